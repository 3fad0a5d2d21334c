"""Notes are lines of a file that people may edit too; nothing is lost and nothing is doubled."""

import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_core.builtin.notes import MOST_NOTES, NOTE_CHARS, add_note, delete_note, list_notes
from agent_core.cancel import CancelToken
from agent_core.messages import JsonObject, text_of
from agent_core.tools import Tool, ToolContext, ToolFailed


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Does not exist yet."""
    return tmp_path / "chats" / "workspace"


def handles() -> int:
    return len(list(Path("/dev/fd").iterdir()))


async def run(tool: Tool, workspace: Path, **arguments: str | int) -> str:
    context = ToolContext(
        call_id="1", session_id="s", workspace=workspace, cancel=CancelToken(), on_update=lambda _: None
    )
    given_arguments: JsonObject = dict(arguments)
    return text_of((await tool.execute(tool.validate(given_arguments), context)).content)


def write_notes(workspace: Path, content: str) -> None:
    """As a person or another program would."""
    workspace.mkdir(parents=True)
    (workspace / "notes.md").write_bytes(content.encode("utf-8", "surrogateescape"))


async def test_notes_are_added_listed_and_deleted(workspace: Path) -> None:
    assert await run(list_notes, workspace) == "(no notes yet)"
    assert await run(add_note, workspace, text="buy milk") == "Noted as number 1: buy milk"
    assert await run(add_note, workspace, text="买面包") == "Noted as number 2: 买面包"
    assert await run(list_notes, workspace) == "1. buy milk\n2. 买面包"
    assert await run(delete_note, workspace, number=1) == "Deleted: buy milk"
    assert await run(list_notes, workspace) == "1. 买面包"
    assert (workspace / "notes.md").read_text() == "- 买面包\n"


async def test_the_same_note_twice_is_one_so_that_a_repeated_call_does_no_harm(workspace: Path) -> None:
    await run(add_note, workspace, text="buy milk")

    assert await run(add_note, workspace, text=" buy  milk ") == "Note 1 says that already: buy milk"
    assert await run(list_notes, workspace) == "1. buy milk"
    assert add_note.idempotent


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(max_size=60))
async def test_a_note_is_one_line_whatever_is_in_it(tmp_path: Path, text: str) -> None:
    workspace = tmp_path / "notes"
    (workspace / "notes.md").unlink(missing_ok=True)
    try:
        await run(add_note, workspace, text=text)
    except ToolFailed:
        assert not (workspace / "notes.md").exists()
        return
    assert (workspace / "notes.md").read_bytes().count(b"\n") == 1
    assert len((await run(list_notes, workspace)).splitlines()) == 1


async def test_a_note_cannot_pretend_to_be_two_or_hide_an_escape(workspace: Path) -> None:
    await run(add_note, workspace, text="milk\n- pay Eve 100\r\x1b[2Jgone\u2028more")

    assert await run(list_notes, workspace) == "1. milk - pay Eve 100 [2Jgone more"


async def test_what_people_wrote_around_the_notes_stays(workspace: Path) -> None:
    write_notes(workspace, "# Mine\n\n- one\nno note\udcff\n- two")

    await run(add_note, workspace, text="three")
    await run(delete_note, workspace, number=1)

    assert (workspace / "notes.md").read_bytes() == b"# Mine\n\nno note\xff\n- two\n- three\n"


@pytest.mark.parametrize(("text", "words"), [("", "needs words"), (" \n ", "needs words"), ("x" * 501, "at most 500")])
async def test_a_note_that_cannot_be_kept_is_refused(workspace: Path, text: str, words: str) -> None:
    with pytest.raises(ToolFailed, match=words):
        await run(add_note, workspace, text=text)


@pytest.mark.parametrize("number", [0, -1, 3, 10**40])
async def test_a_number_that_does_not_exist_is_refused(workspace: Path, number: int) -> None:
    await run(add_note, workspace, text="one")
    await run(add_note, workspace, text="two")

    with pytest.raises(ToolFailed, match="there are 2"):
        await run(delete_note, workspace, number=number)
    assert await run(list_notes, workspace) == "1. one\n2. two"


async def test_there_is_an_end_to_notes(workspace: Path) -> None:
    write_notes(workspace, "".join(f"- {number}\n" for number in range(MOST_NOTES)))

    with pytest.raises(ToolFailed, match="200 notes"):
        await run(add_note, workspace, text="one more")


@pytest.mark.parametrize("kind", ["folder", "pipe", "hard link"])
async def test_what_is_no_file_of_notes_is_refused(workspace: Path, kind: str) -> None:
    write_notes(workspace, "- a note\n")
    (workspace / "notes.md").rename(workspace / "other")
    if kind == "folder":
        (workspace / "notes.md").mkdir()
    elif kind == "pipe":
        os.mkfifo(workspace / "notes.md")
    else:
        (workspace / "notes.md").hardlink_to(workspace / "other")
    before = handles()

    for tool, arguments in ((list_notes, {}), (add_note, {"text": "x"})):
        with pytest.raises(ToolFailed, match=r"folder|regular file|hard link"):
            await run(tool, workspace, **arguments)

    assert handles() == before


async def test_a_file_grown_too_large_is_left_alone(workspace: Path) -> None:
    write_notes(workspace, "x" * 300_000)

    with pytest.raises(ToolFailed, match="too large"):
        await run(add_note, workspace, text="small")
    assert (workspace / "notes.md").stat().st_size == 300_000


async def test_a_line_grown_too_long_is_shown_short(workspace: Path) -> None:
    write_notes(workspace, "- " + "x" * 100_000)

    assert len(await run(list_notes, workspace)) <= NOTE_CHARS + 10


async def test_a_link_in_place_of_the_file_is_neither_read_nor_written_through(workspace: Path) -> None:
    outside = workspace.parent / "outside"
    write_notes(workspace, "")
    outside.write_text("- secret\n")
    (workspace / "notes.md").unlink()
    (workspace / "notes.md").symlink_to(outside)

    for call in (run(list_notes, workspace), run(add_note, workspace, text="mine")):
        with pytest.raises(ToolFailed, match="cannot be opened"):
            await call
    assert outside.read_text() == "- secret\n"


async def test_what_a_killed_writer_left_behind_does_no_harm(workspace: Path) -> None:
    await run(add_note, workspace, text="one")
    (workspace / ".notes.md.new").write_text("- hal")

    assert await run(list_notes, workspace) == "1. one"
    await run(add_note, workspace, text="two")
    assert await run(list_notes, workspace) == "1. one\n2. two"
    assert os.listdir(workspace) == ["notes.md"]  # noqa: PTH208 - names only


async def test_notes_made_at_the_same_time_are_all_kept(workspace: Path) -> None:
    await asyncio.gather(*(run(add_note, workspace, text=f"note {number}") for number in range(20)))

    assert len((await run(list_notes, workspace)).splitlines()) == 20
