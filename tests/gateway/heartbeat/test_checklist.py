"""HEARTBEAT.md: the lines that ask for something, and the limits for reading the file."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_core.tools.tool import ToolFailed
from agent_core.workspace.keeper import Author, KeepsNothing
from gateway.schedule.heartbeat.checklist import (
    DRAFT,
    LARGEST,
    MOST_LINES,
    NAME,
    digest_of,
    draft_checklist,
    drop_draft,
    matters,
    read_checklist,
    take_draft,
)

ANN = Author("heartbeat", person="ann")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n  \n",
        "# What to check\n\n## Every day",
        "<!-- water the plants -->",
        "<!-- a list\n- water the plants\n-->",
        "<!-- never closed\n- water the plants",
        "- [x] Water the plants\n* [X] Feed the cat\n1. [✓] Post",
        "- [ ]\n- []\n-\n*",
        "---\n***\n- - -",
    ],
)
def test_lines_that_ask_for_nothing(text: str) -> None:
    assert matters(text) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("- [ ] Water the plants", "Water the plants"),
        ("* Water the plants", "Water the plants"),
        ("2) Water the plants", "Water the plants"),
        ("Water the plants", "Water the plants"),
        ("  - [ ]  给植物浇水  ", "给植物浇水"),
        ("#1 of the list", "#1 of the list"),
        ("# Today\n<!-- note -->Water the plants<!-- soon -->\n- [x] done", "Water the plants"),
    ],
)
def test_lines_that_ask_for_something(text: str, found: str) -> None:
    assert matters(text) == (found,)


def test_a_list_without_end_is_cut() -> None:
    assert len(matters("\n".join(f"- thing {number}" for number in range(500)))) == MOST_LINES
    assert len(matters("x" * 5_000)[0]) == 300


async def test_no_file_is_an_empty_list(tmp_path: Path) -> None:
    assert await read_checklist(tmp_path) == ()
    assert await read_checklist(tmp_path / "no workspace yet") == ()


Put = Callable[[Path, Path], None]


def a_link(place: Path, outside: Path) -> None:
    outside.write_text("- a secret")
    place.symlink_to(outside)


def a_second_name(place: Path, outside: Path) -> None:
    outside.write_text("- a secret")
    place.hardlink_to(outside)


def a_pipe(place: Path, _: Path) -> None:
    os.mkfifo(place)


def a_folder(place: Path, _: Path) -> None:
    place.mkdir()


def much_too_long(place: Path, _: Path) -> None:
    place.write_bytes(b"x" * (LARGEST + 1))


def no_text(place: Path, _: Path) -> None:
    place.write_bytes(b"\x7fELF\x00\x01")


@pytest.mark.parametrize("put", [a_link, a_second_name, a_pipe, a_folder, much_too_long, no_text])
async def test_what_is_no_short_text_of_the_workspace_is_not_read(
    tmp_path: Path, put: Callable[[Path, Path], None]
) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    put(workspace / NAME, tmp_path / "outside.txt")

    with pytest.raises(ToolFailed):
        await read_checklist(workspace)


async def test_a_draft_counts_once_it_is_taken(tmp_path: Path) -> None:
    workspace = tmp_path / "new"
    text = await draft_checklist(workspace, "To look after", ["water the\nplants"])
    assert text == "# To look after\n\n- [ ] water the plants\n"
    assert await read_checklist(workspace) == ()

    assert not await take_draft(workspace, KeepsNothing(), ANN, digest_of("- another one\n"))
    assert await take_draft(workspace, KeepsNothing(), ANN, digest_of(text))

    assert await read_checklist(workspace) == ("water the plants",)
    assert not (workspace / DRAFT).exists()
    assert not await take_draft(workspace, KeepsNothing(), ANN, digest_of(text))


async def test_a_draft_adds_to_what_is_there(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("# Mine\n- feed the cat\n\n")
    text = await draft_checklist(tmp_path, "To look after", ["water the plants"])
    await take_draft(tmp_path, KeepsNothing(), ANN, digest_of(text))

    assert (tmp_path / NAME).read_text() == "# Mine\n- feed the cat\n- [ ] water the plants\n"


async def test_a_draft_can_be_dropped(tmp_path: Path) -> None:
    text = await draft_checklist(tmp_path, "To look after", ["water the plants"])
    await drop_draft(tmp_path)
    await drop_draft(tmp_path)

    assert not await take_draft(tmp_path, KeepsNothing(), ANN, digest_of(text))
