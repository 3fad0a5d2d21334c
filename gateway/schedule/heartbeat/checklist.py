"""HEARTBEAT.md in a chat's workspace: what the user wants checked, one item a line."""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from agent_core.workspace.keeper import Author, Keeper
from gateway.schedule.heartbeat.notes import drop_note, read_note, write_note

NAME = "HEARTBEAT.md"
DRAFT = "HEARTBEAT.draft.md"
"""The list that was shown to the user for confirmation."""
MOST_LINES = 20
LONGEST_LINE = 300
"""Characters; longer lines are cut."""

_COMMENT = re.compile(r"<!--.*?(-->|\Z)", re.DOTALL)
_HEADING = re.compile(r"#{1,6}(\s|$)")
_RULE = re.compile(r"([-*_=]\s*){3,}")
_BULLET = re.compile(r"([-*+]|\d{1,3}[.)])(\s+|$)")
_BOX = re.compile(r"\[(?P<mark>[ xX✓✔])?\](\s+|$)")


def matters(text: str) -> tuple[str, ...]:
    """Return the lines with open items, without headings, comments, ticked boxes and empty lines."""
    lines: list[str] = []
    for raw in _COMMENT.sub("", text).splitlines():
        line = raw.strip()
        if not line or _HEADING.match(line) or _RULE.fullmatch(line):
            continue
        line = line[found.end() :] if (found := _BULLET.match(line)) else line
        if box := _BOX.match(line):
            if (box["mark"] or " ") != " ":
                continue
            line = line[box.end() :]
        if line.strip():
            lines.append(line.strip()[:LONGEST_LINE])
    return tuple(lines[:MOST_LINES])


async def read_checklist(workspace: Path) -> tuple[str, ...]:
    """Return the open items; none if there is no file. Raises ToolFailed if it cannot or may not be read."""
    return matters(await read_note(workspace, NAME) or "")


async def draft_checklist(workspace: Path, title: str, lines: Sequence[str]) -> str:
    """Write a draft of the list with new lines at its end, and return its text. Raises ToolFailed."""
    old = await read_note(workspace, NAME)
    new = [f"- [ ] {' '.join(line.split())[:LONGEST_LINE]}" for line in lines]
    text = "\n".join([*(old.rstrip().splitlines() if old and old.strip() else [f"# {title}", ""]), *new, ""])
    await write_note(workspace, DRAFT, text)
    return text


async def take_draft(workspace: Path, keeper: Keeper, author: Author) -> bool:
    """Replace the list by the draft; `keeper` keeps the previous version. Returns False if there is no draft.

    Raises ToolFailed.
    """
    text = await read_note(workspace, DRAFT)
    if text is None:
        return False
    await write_note(workspace, NAME, text, partial(keeper.file, author, NAME))
    await drop_note(workspace, DRAFT)
    return True


async def drop_draft(workspace: Path) -> None:
    await drop_note(workspace, DRAFT)
