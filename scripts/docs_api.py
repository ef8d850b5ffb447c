"""The tables of the page about Python: every name that the other pages promise, its signature and its sentence.

Promised is what a page imports in a block of code, what it names in full, and what `rejoinder` and `rejoinder.core`
offer. Errors have a page of their own.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, get_args

import msgspec

import rejoinder
from rejoinder import core
from scripts.docs_source import PACKAGE, ROOT, documented, error_classes, sentence

BLOCK: Final = re.compile(r"^ *```python.*?\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
FULL_NAME: Final = re.compile(r"`(rejoinder(?:\.\w+)+)[(`]")
DEFAULT_MAX: Final = 16
"""A default that takes more characters is not shown: the source has it."""


def promised() -> dict[str, list[str]]:
    """The promised names, sorted, by the module that a page imports them from."""
    found: dict[str, set[str]] = {"rejoinder": set(rejoinder.__all__), "rejoinder.core": set(core.__all__)}
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        if page.name == "api.md":
            continue
        text = page.read_text("utf-8")
        for module, name in (*_imported(text), *_named(text)):
            found.setdefault(module, set()).add(name)
    errors = {error.name for error in error_classes()}
    return {module: sorted(names - errors) for module, names in sorted(found.items()) if names - errors}


def _imported(page: str) -> Iterator[tuple[str, str]]:
    for block in BLOCK.findall(page):
        try:
            tree = ast.parse(inspect.cleandoc(block))
        except SyntaxError:
            continue  # a piece of a program, which is shown and not run
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "rejoinder":
                for alias in node.names:
                    if _module(f"{node.module}.{alias.name}") is None:
                        yield str(node.module), alias.name


def _named(page: str) -> Iterator[tuple[str, str]]:
    for dotted in FULL_NAME.findall(page):
        module, _, name = dotted.rpartition(".")
        if _module(dotted) is None and hasattr(_module(module), name):
            yield module, name


def _module(dotted: str) -> Any:
    try:
        return importlib.import_module(dotted)
    except ModuleNotFoundError:
        return None


def api_rows() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """For each module its promised names, each with what it says of itself; methods once, where the class is first."""
    shown: set[object] = set()
    for module, names in promised().items():
        rows: list[tuple[str, str]] = []
        for name in names:
            thing: Any = getattr(importlib.import_module(module), name)
            rows.append((f"`{name}{signature(thing)}`", _said(thing, module, name)))
            if inspect.isclass(thing) and thing not in shown:
                shown.add(thing)
                rows.extend(_methods(name, thing))
        yield module, rows


def _methods(name: str, kind: type[Any]) -> Iterator[tuple[str, str]]:
    """The methods that say something of themselves; what those of a store promise, the port says, once."""
    for home in kind.__mro__:
        for method, value in vars(home).items() if home.__module__.startswith("rejoinder") else ():
            function: object = getattr(value, "__func__", value)
            if inspect.isfunction(function) and function.__doc__ and not method.startswith("_"):
                yield f"`{name}.{method}{signature(function)}`", sentence(function.__doc__)


def _said(thing: Any, module: str, name: str) -> str:
    if inspect.isclass(thing) or inspect.isroutine(thing):
        return sentence(thing.__doc__ if "rejoinder" in str(thing.__module__) else None)
    return _sentence_below(module, name)


def _sentence_below(module: str, name: str) -> str:
    """The sentence below a constant, in this module or in the one that it has it from."""
    tree = _tree(module)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rejoinder"):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _sentence_below(str(node.module), alias.name)
    return documented(tree.body).get(name) or _alternatives(getattr(importlib.import_module(module), name))


def _alternatives(alias: Any) -> str:
    """What an alias without a sentence stands for; for a value, what it is."""
    names = [getattr(each, "__name__", repr(each)) for each in get_args(alias)]
    return " or ".join(f"`{name}`" for name in names) or f"`{getattr(alias, '__name__', repr(alias))}`"


@cache
def _tree(module: str) -> ast.Module:
    path = PACKAGE.parent.joinpath(*module.split("."))
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(source.read_text("utf-8"))


def signature(thing: Any) -> str:
    """How it is called, without types; nothing for what is not called."""
    if not (inspect.isclass(thing) or inspect.isroutine(thing)) or getattr(thing, "_is_protocol", False):
        return ""
    if inspect.isclass(thing) and issubclass(thing, msgspec.Struct):
        return _signature_of_struct(thing)
    try:
        parameters = [*inspect.signature(thing).parameters.values()]
    except (TypeError, ValueError):
        return ""
    shown = [
        each.replace(annotation=each.empty, default=_Default(each.default))
        if each.default is not each.empty
        else each.replace(annotation=each.empty)
        for each in parameters
        if each.name not in ("self", "cls")
    ]
    return str(inspect.Signature(shown)).replace("`", "'")


def _signature_of_struct(kind: type[msgspec.Struct]) -> str:
    # Its annotations may name types that are only there for type checkers, so it is not asked for its signature.
    names, defaults = kind.__struct_fields__, kind.__struct_defaults__
    needed = len(names) - len(defaults)
    shown = list(names[:needed])
    for name, default in zip(names[needed:], defaults, strict=True):
        required = default is msgspec.NODEFAULT
        shown.append(name if required else f"{name}={_Default(default)!r}")
    return f"({', '.join(shown)})"


class _Default:
    """A default value as it is shown."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __repr__(self) -> str:
        shown = repr(self.value)
        return shown if len(shown) <= DEFAULT_MAX and "<" not in shown and "0x" not in shown else "…"
