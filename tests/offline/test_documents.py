"""Conversations in files of other programs: in, out, and in again."""

from __future__ import annotations

from pathlib import Path

import pytest

from rejoinder.messages import Text
from rejoinder.offline.importing import SourceUnreadable, import_documents
from rejoinder.stores.memory import InMemoryConversationStore
from rejoinder.wire import json
from tests.engine.stage import asynchronous
from tests.offline.test_replay import rejoinder

HELLO = {"id": "u", "role": "user", "parts": [{"type": "text", "text": "Hello"}]}
HI = {"id": "a", "role": "assistant", "parts": [{"type": "text", "text": "Hi", "state": "done"}]}


def written(file: Path, *values: object) -> Path:
    file.write_bytes(b"\n".join(map(json.encode, values)))
    return file


@pytest.mark.parametrize(
    ("values", "conversation"),
    [
        (([HELLO, HI],), "chat"),
        (({"id": "talk", "messages": [HELLO, HI]},), "talk"),
        ((HELLO, HI), "chat"),
    ],
)
@asynchronous
async def test_a_file_is_an_array_an_object_or_lines(
    values: tuple[object, ...], conversation: str, tmp_path: Path
) -> None:
    store = InMemoryConversationStore()
    report = await import_documents(written(tmp_path / "chat.json", *values), "ui", store)
    assert (report.conversations, report.messages, report.troubles) == (1, 2, [])
    stored = await store.list_messages(conversation)
    assert stored[1].message.parts == (Text(text="Hi", state="done"),)


@asynchronous
async def test_a_line_can_be_a_conversation(tmp_path: Path) -> None:
    store = InMemoryConversationStore()
    file = written(tmp_path / "chats.jsonl", {"id": "one", "messages": [HELLO]}, [HELLO, HI])
    assert (await import_documents(file, "ui", store)).conversations == 2
    assert len(await store.list_messages("one")) == 1
    assert len(await store.list_messages("chats-2")) == 2


@asynchronous
async def test_a_second_import_changes_nothing_and_a_longer_one_adds(tmp_path: Path) -> None:
    store = InMemoryConversationStore()
    file = tmp_path / "chat.json"
    await import_documents(written(file, [HELLO]), "ui", store)
    again = await import_documents(file, "ui", store)
    assert (again.conversations, again.messages, again.there, again.notes) == (0, 0, 1, [])
    longer = await import_documents(written(file, [HELLO, HI]), "ui", store)
    assert (longer.messages, longer.there) == (1, 1)
    assert [each.message.id for each in await store.list_messages("chat")] == ["u", "a"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "nothing in it"),
        (b"{", "JSON"),
        (b"7", "this is a number"),
        (b'{"id": "x"}', "this object has none"),
        (b'[{"id": "u", "role": "robot", "parts": []}]', r"messages\[0\]"),
        (b'{"id":"u","role":"user","parts":[]}\n{"id":', "line 2"),
    ],
)
@asynchronous
async def test_a_file_of_another_form_is_refused_whole(text: bytes, said: str, tmp_path: Path) -> None:
    store = InMemoryConversationStore()
    file = tmp_path / "chat.json"
    file.write_bytes(text)
    with pytest.raises(SourceUnreadable, match=said):
        await import_documents(file, "ui", store)
    assert await store.list_tenants() == []


def test_the_commands_carry_a_conversation_out_and_in(database: str, tmp_path: Path) -> None:
    out = rejoinder("export", "--conversation", "tools", "--format", "ui", database=database)
    assert (out.returncode, out.stderr) == (0, "")
    file = tmp_path / "copy.json"
    file.write_text(out.stdout)
    back = rejoinder(
        "import", "--from", "ui", str(file), "--conversation", "copy", "--tenant", "other", database=database
    )
    assert (back.returncode, back.stderr) == (0, "")
    assert back.stdout.startswith("1 conversations, 2 messages")
    copy = rejoinder(
        "export", "--conversation", "copy", "--tenant", "other", "--format", "ui", database=database
    )
    assert json.decode(copy.stdout)["messages"] == json.decode(out.stdout)["messages"]
    for wrong in (("--format", "ui"), ("--conversation", "tools")):
        refused = rejoinder("export", *wrong, database=database)
        assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)
    missing = rejoinder("export", "--conversation", "nowhere", "--format", "ui-4", database=database)
    assert (missing.returncode, len(missing.stderr.splitlines())) == (1, 1)


@pytest.mark.parametrize("form", ["persistence", "session-messages"])
def test_the_commands_carry_a_conversation_out_and_in_as_tables(
    form: str, database: str, tmp_path: Path
) -> None:
    folder = tmp_path / "tables"
    out = rejoinder("export", str(folder), "--conversation", "tools", "--format", form, database=database)
    assert (out.returncode, out.stderr) == (0, "")
    back = rejoinder("import", "--from", form, str(folder), "--tenant", "other", database=database)
    assert (back.returncode, back.stderr) == (0, "")
    said = [
        rejoinder(
            "export", "--conversation", "tools", "--tenant", tenant, "--format", "ui", database=database
        ).stdout
        for tenant in ("default", "other")
    ]
    before, after = (json.decode(each)["messages"] for each in said)
    if form == "session-messages":
        # Its rows have numbers in the place of ids, and only an answer says its own.
        before[0]["id"] = "0"
    assert after == before
    refused = rejoinder("export", "--conversation", "tools", "--format", form, database=database)
    assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)


@pytest.mark.parametrize("form", ["langgraph", "pydantic-ai", "openai-agents"])
def test_a_conversation_of_a_framework_is_imported_and_said_again(
    form: str, database: str, tmp_path: Path
) -> None:
    out = rejoinder("export", "--conversation", "tools", "--format", form, database=database)
    assert (out.returncode, out.stderr) == (0, "")
    file = tmp_path / "copy.json"
    file.write_text(out.stdout)
    back = rejoinder("import", "--from", form, str(file), "--tenant", "other", database=database)
    assert (back.returncode, back.stderr) == (0, "")
    assert back.stdout.startswith("1 conversations, 2 messages")
    again = rejoinder(
        "export", "--conversation", "tools", "--tenant", "other", "--format", form, database=database
    )
    assert json.decode(again.stdout) == json.decode(out.stdout)
