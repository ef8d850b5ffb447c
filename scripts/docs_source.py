"""What the source says of itself: sentences below definitions, error classes, commands and their options."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

import msgspec
import typer.main

from rejoinder.cli.app import app
from rejoinder.translate import failures

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGE: Final = ROOT / "src" / "rejoinder"


def sentence(docstring: str | None) -> str:
    """The first paragraph of a docstring in one line."""
    return " ".join((docstring or "").partition("\n\n")[0].split())


def syntax_of(module: str) -> ast.Module:
    """The syntax tree of a module of the package, by its name below `rejoinder`."""
    return ast.parse((PACKAGE / f"{module.replace('.', '/')}.py").read_text("utf-8"))


def documented(body: Sequence[ast.stmt]) -> dict[str, str]:
    """The names that are defined with an annotation, each with the sentence that stands below it."""
    found: dict[str, str] = {}
    for statement, following in pairwise(body):
        match statement, following:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = sentence(text)
            case _:
                pass  # a definition without a sentence, or no definition
    return found


def documented_fields(module: str, name: str) -> dict[str, str]:
    """The fields of a class with the sentences below them."""
    for statement in syntax_of(module).body:
        if isinstance(statement, ast.ClassDef) and statement.name == name:
            return documented(statement.body)
    raise LookupError(f"{module} has no class {name}")


class ErrorClass(msgspec.Struct, frozen=True, kw_only=True):
    """An error that callers may meet."""

    module: str
    name: str
    code: str
    meaning: str


def _code_said_by(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case (
            ast.AnnAssign(target=ast.Name(id="code"), value=ast.Constant(value=str(code)))
            | ast.Assign(targets=[ast.Name(id="code")], value=ast.Constant(value=str(code)))
        ):
            yield code
        case ast.Assign(
            targets=[ast.Name(id="code")], value=ast.Attribute(value=ast.Name(id=failure), attr="code")
        ):
            # Errors of providers share their codes with what translators say of the same failure.
            yield str(getattr(failures, failure).code)
        case _:
            pass  # says something else


def error_classes() -> tuple[ErrorClass, ...]:
    """Every public error of the package: each class that has a `code`, its own or its base's."""
    # The source is read, not imported: an error of an extra is documented where the extra is not installed.
    classes: dict[str, dict[str, ast.ClassDef]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ("rejoinder", *path.relative_to(PACKAGE).with_suffix("").parts)
        for statement in ast.parse(path.read_text("utf-8")).body:
            if isinstance(statement, ast.ClassDef):
                module = ".".join(parts).removesuffix(".__init__")
                classes.setdefault(statement.name, {})[module] = statement

    def code_of(node: ast.ClassDef) -> str | None:
        own = [code for statement in node.body for code in _code_said_by(statement)]
        bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
        inherited = [code_of(each) for base in bases for each in classes.get(base, {}).values()]
        return next((code for code in (*own, *inherited) if code is not None), None)

    return tuple(
        ErrorClass(module=module, name=name, code=code, meaning=sentence(ast.get_docstring(node)))
        for name, places in classes.items()
        for module, node in places.items()
        if not name.startswith("_") and (code := code_of(node)) is not None
    )


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """An option or argument of a command."""

    names: tuple[str, ...]
    default: str
    help: str


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A command of the command line."""

    help: str
    options: tuple[Option, ...]


def commands() -> dict[str, Command]:
    """Every command, groups' commands by their full name."""

    def walk(command: object, path: tuple[str, ...]) -> Iterator[tuple[str, Command]]:
        inner: Mapping[str, object] | None = getattr(command, "commands", None)
        if inner is not None:
            for name, each in inner.items():
                yield from walk(each, (*path, name))
            return
        parameters: Sequence[object] = getattr(command, "params", ())
        said = sentence(str(getattr(command, "help", None) or ""))
        yield " ".join(path), Command(help=said, options=tuple(map(_option, parameters)))

    return dict(walk(typer.main.get_command(app), ()))


def _option(parameter: object) -> Option:
    names: Sequence[str] = getattr(parameter, "opts", ())
    default: object = getattr(parameter, "default", None)
    said = getattr(parameter, "help", None)
    return Option(
        names=tuple(names),
        default=str(default) if isinstance(default, str | int) and not isinstance(default, bool) else "",
        help=str(said or ""),
    )
