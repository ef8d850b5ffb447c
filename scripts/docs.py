"""`python -m scripts.docs`: write the tables of the documentation that the code knows best.

A page has a place for a table between two comments, `<!-- table: NAME -->` and `<!-- end of table -->`. What
stands between them is replaced. A test fails while a page says something else than the code.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias, get_args

import msgspec

from rejoinder.convert import model_rules
from rejoinder.convert.rows import FAMILIES, MessageRow, PartRow
from rejoinder.fold import rules
from rejoinder.messages import Approval, Data, Message, Opaque, Part, ToolCall
from rejoinder.wire import dialects, grammar_tables
from rejoinder.wire.chunks import CHUNK_TYPES, DataChunk
from rejoinder.wire.dialects import Since
from rejoinder.wire.grammar_tables import Phase, Table
from scripts import docs_grammar
from scripts.docs_api import api_rows
from scripts.docs_costs import cost_rows
from scripts.docs_http import problem_rows, route_rows
from scripts.docs_operation import log_rows, metric_rows
from scripts.docs_schema import database_tables, view_columns
from scripts.docs_source import (
    ROOT,
    ErrorClass,
    commands,
    documented,
    documented_fields,
    error_classes,
    sentence,
    syntax_of,
)

PAGES: Final = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

PLACE: Final = re.compile(
    r"(?P<begin><!-- table: (?P<name>[^>]+?) -->\n)(?P<table>.*?)(?P<end><!-- end of table -->)", re.DOTALL
)

Row: TypeAlias = Sequence[str]

_GENERIC: Final = ("content", "closing", "nothing")
"""Words of the grammar that are no chunk types."""


# --- Markdown -----------------------------------------------------------------------------------------------


def table(head: Row, rows: Iterable[Row]) -> str:
    """A table of Markdown. A bar in a cell would end the cell."""
    cells = [[cell.replace("|", r"\|") for cell in line] for line in (head, ["---"] * len(head), *rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def code(text: str) -> str:
    """A text as code; nothing for no text."""
    return f"`{text}`" if text else ""


def yes_or_no(value: object) -> str:
    """What a cell of a table of habits says."""
    return "yes" if value is True else "no" if value is False else str(value)


# --- The tables ---------------------------------------------------------------------------------------------


def fields_of(name: str, kind: type[msgspec.Struct]) -> str:
    """The fields of a chunk by their names in JSON; those that may be missing have a question mark."""
    payload = dialects.PAYLOADS.get(name)
    return ", ".join(
        code(field.encode_name if field.required or field.name == payload else f"{field.encode_name}?")
        for field in msgspec.structs.fields(kind)
    )


def since(releases: Since) -> Iterator[str]:
    """What three columns say of a thing that came with these releases."""
    for sdk, patch in zip((5, 6, 7), releases, strict=True):
        yield "no" if patch is None else "yes" if patch == 0 else f"from {sdk}.0.{patch}"


def chunk_table() -> str:
    """Every chunk type."""
    rows = [
        [code(name), fields_of(name, kind), *since(dialects.TYPE_SINCE[name]), sentence(kind.__doc__)]
        for name, kind in CHUNK_TYPES.items()
    ]
    data = (
        "`data-NAME`",
        "`data`, `id?`, `transient?`",
        *since(dialects.ALWAYS),
        sentence(DataChunk.__doc__),
    )
    return table(("chunk", "fields", "5", "6", "7", "what it says"), [*rows, data])


def field_table() -> str:
    """Fields that are younger than their chunk."""
    late = dialects.FIELD_SINCE.items()
    return table(
        ("chunk", "field", "5", "6", "7"),
        ([code(chunk), code(field), *since(releases)] for (chunk, field), releases in late),
    )


def reason_table() -> str:
    """Finish reasons."""
    reasons = dialects.FINISH_REASON_SINCE.items()
    return table(
        ("finish reason", "5", "6", "7"), ([code(name), *since(releases)] for name, releases in reasons)
    )


def habit_table() -> str:
    """Habits of clients that ended with a release, and which releases have them."""

    def cells(releases: Since) -> Iterator[str]:
        for sdk, patch in zip((5, 6, 7), releases, strict=True):
            yield "all" if patch is None else f"before {sdk}.0.{patch}" if patch else "none"

    habits = {
        name: text.removeprefix("Until then, ")
        for name, text in documented(syntax_of("wire.dialects").body).items()
        if text.startswith("Until then, ")
    }
    return table(
        ("the habit", "5", "6", "7"),
        ([f"{text[:1].upper()}{text[1:]}", *cells(getattr(dialects, name))] for name, text in habits.items()),
    )


def limit_table() -> str:
    """Bounds that a request meets."""
    module = syntax_of("wire.requests")
    limits = {name: text for name, text in documented(module.body).items() if name.endswith("_MAX")}
    values = {
        node.target.id: ast.unparse(node.value)
        for node in module.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None
    }
    return table(
        ("limit", "is", "because"), ([code(name), values[name], text] for name, text in limits.items())
    )


def phase_table(family: str, phases: Table[Phase]) -> str:
    """One table of the grammar."""
    rows = [
        [phase.value, label if label in _GENERIC else code(label), following.value]
        for phase, row in phases.items()
        for label, following in (row.items() or [("nothing", phase)])
    ]
    return table((f"{family} is", "may come", "and then it is"), rows)


def grammar_table() -> str:
    """The tables of the grammar, one below the other."""
    words = documented(syntax_of("wire.grammar_tables").body)
    return "\n".join(
        (
            phase_table("the stream", grammar_tables.STREAM),
            *(f"*{label}*: {words[label.upper()]}\n" for label in _GENERIC[:2]),
            phase_table("the stream", grammar_tables.STEP),
            phase_table("a text", grammar_tables.TEXT),
            phase_table("a reasoning", grammar_tables.REASONING),
            phase_table("a tool call", grammar_tables.TOOL),
        )
    )


def _ui_type(part: type[msgspec.Struct]) -> str:
    if part is ToolCall:
        return "`tool-NAME`, `dynamic-tool`"
    if part is Data:
        return "`data-NAME`"
    return "any other" if part is Opaque else code(str(part.__struct_config__.tag))


def part_table() -> str:
    """Every part."""
    return table(
        ("part", "`UIMessage` type", "fields", ""),
        (
            [code(part.__name__), _ui_type(part), attributes(part), sentence(part.__doc__)]
            for part in get_args(Part)
        ),
    )


def message_table() -> str:
    """The message, and the approval of a call."""
    return table(
        ("value", "fields", ""),
        ([code(kind.__name__), attributes(kind), sentence(kind.__doc__)] for kind in (Message, Approval)),
    )


def attributes(kind: type[msgspec.Struct]) -> str:
    """The attributes of a struct; those with a default have a question mark. `extra` goes without saying."""
    return ", ".join(
        code(field.name if field.required else f"{field.name}?")
        for field in msgspec.structs.fields(kind)
        if field.name != "extra"
    )


def fold_table() -> str:
    """What the reducers do differently."""
    habits = documented_fields("fold.rules", "Rules")
    rows = [
        [text, *(yes_or_no(getattr(rules.RULES[sdk], name)) for sdk in (5, 6, 7))]
        for name, text in habits.items()
        if name != "ignores"
    ]
    names = {kind: name for name, kind in CHUNK_TYPES.items()}
    ignored = [
        ", ".join(sorted(code(names[kind]) for kind in rules.RULES[sdk].ignores)) or "none"
        for sdk in (5, 6, 7)
    ]
    return table(("", "5", "6", "7"), [[habits["ignores"], *ignored], *rows])


def model_table() -> str:
    """What the converters to model messages do differently."""
    habits = documented_fields("convert.model_rules", "Rules")
    return table(
        ("", "5", "6", "7"),
        (
            [text, *(yes_or_no(getattr(model_rules.RULES[sdk], name)) for sdk in (5, 6, 7))]
            for name, text in habits.items()
        ),
    )


def column_table() -> str:
    """The columns of message and part rows."""
    approval = [name for name in PartRow.__struct_fields__ if name.startswith("tool_approval_")]
    beside = {"tool-call": approval, "steering-message": ["steering_parts"]}
    families = [
        [code(type), ", ".join(map(code, (*family.columns.values(), *beside.get(type, ()))))]
        for type, family in FAMILIES.items()
    ]
    message = ["the message", ", ".join(map(code, MessageRow.__struct_fields__))]
    return table(("`type`", "columns"), [message, ["every part", "`order`, `type`"], *families])


def error_table() -> str:
    """Every error, by the module to import it from."""
    modules: dict[str, list[ErrorClass]] = {}
    for error in error_classes():
        modules.setdefault(error.module, []).append(error)
    first = "rejoinder.errors"
    return "\n".join(
        f"### From `{module}`\n\n"
        + table(
            ("error", "code", "what it means"),
            ([code(error.name), code(error.code), error.meaning] for error in modules[module]),
        )
        for module in sorted(modules, key=lambda name: (name != first, name))
    )


# --- Python and the database --------------------------------------------------------------------------------


def python_names() -> str:
    """Every promised name, by the module to import it from: how it is called, and in the next line what it is."""
    return "\n".join(
        f"## `{module}`\n\n"
        + "".join(f"* {name}\\\n  {said}\n" if said else f"* {name}\n" for name, said in rows)
        for module, rows in api_rows()
    )


def database() -> str:
    """Every table, and below it what the database holds of it."""
    return "\n".join(
        f"### `{name}`\n\n{table(('column', 'type', 'may be null', 'leads to'), columns)}\n"
        + "".join(f"* {rule}\n" for rule in rules)
        for name, columns, rules in database_tables()
    )


# --- The command line ---------------------------------------------------------------------------------------


def option_table(command: str) -> str:
    """The options of one command."""
    return table(
        ("option", "if not given", ""),
        (
            [", ".join(map(code, option.names)), code(option.default), option.help]
            for option in commands()[command].options
        ),
    )


def other_commands(page: str) -> str:
    """The commands that have no table of their own on this page."""
    shown = {match["name"].removeprefix("options ") for match in PLACE.finditer(page)}
    drawn = [
        f"### `rejoinder {name}`\n\n{command.help}\n\n{option_table(name)}"
        for name, command in commands().items()
        if name not in shown
    ]
    return "\n".join(drawn) or "There are no others yet.\n"


# --- The pages ----------------------------------------------------------------------------------------------

TABLES: Final[Mapping[str, Callable[[], str]]] = {
    "chunks": chunk_table,
    "chunk fields": field_table,
    "finish reasons": reason_table,
    "habits": habit_table,
    "limits": limit_table,
    "grammar": grammar_table,
    "parts": part_table,
    "message": message_table,
    "fold rules": fold_table,
    "model rules": model_table,
    "columns": column_table,
    "errors": error_table,
    "routes": lambda: table(("route", "does", "takes"), route_rows()),
    "metrics": lambda: table(("figure", "kind", "by", "is"), metric_rows()),
    "log": lambda: table(("logger", "level", "says"), log_rows()),
    "costs": lambda: table(("what", "with", "we are"), cost_rows()),
    "python": python_names,
    "database": database,
    "views": lambda: table(("view", "columns"), ((code(name), columns) for name, columns in view_columns())),
    "problems": lambda: table(("status", "type", "says"), problem_rows()),
}


def rendered(page: str) -> str:
    """The page with every table as the code has it now."""

    def place(match: re.Match[str]) -> str:
        name = match["name"]
        if name == "other commands":
            drawn = other_commands(page)
        elif name.startswith("options "):
            drawn = option_table(name.removeprefix("options "))
        else:
            drawn = TABLES[name]()
        return f"{match['begin']}\n{drawn}\n{match['end']}"

    return PLACE.sub(place, page)


def main() -> None:
    """Write every page whose tables have changed."""
    for path in PAGES:
        page = path.read_text("utf-8")
        now = rendered(page)
        if now != page:
            path.write_text(now, "utf-8")
            print(f"written: {path.relative_to(ROOT)}")
    docs_grammar.PICTURE.write_text(docs_grammar.drawing(), "utf-8")


if __name__ == "__main__":
    main()
