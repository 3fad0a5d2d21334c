"""HEARTBEAT.md in a chat's workspace: what the user wants checked, one item a line.

Users and the model can put anything there, so files are opened with care.
"""

import asyncio
import hashlib
import os
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path

from agent_core.late_pattern import LatePattern
from agent_core.tools.files.confined import failure, text_in
from agent_core.tools.files.editing import encoded, write_whole
from agent_core.tools.files.reading import read_whole
from agent_core.tools.tool import ToolFailed
from agent_core.workspace.keeper import Author, CannotKeep, Keeper
from agent_core.workspace.safe_open import best_opener

LARGEST = 16_000
"""Bytes."""

Keeps = Callable[[int], AbstractContextManager[None]]


async def read_note(workspace: Path, name: str) -> str | None:
    """Return the text of a file, or None if it is missing. Raises ToolFailed if it cannot or may not be read."""
    return await asyncio.to_thread(_read, workspace, name)


async def write_note(workspace: Path, name: str, text: str, keeps: Keeps = lambda _: nullcontext()) -> None:
    """Create or replace a file. `keeps` wraps the change, given its size, to make it undoable. Raises ToolFailed."""
    await asyncio.to_thread(_write, workspace, name, encoded(text, name), keeps)


async def drop_note(workspace: Path, name: str) -> None:
    """Delete the file if it exists. Raises ToolFailed."""
    try:
        await asyncio.to_thread((workspace / name).unlink, missing_ok=True)
    except OSError as error:
        raise failure(error.errno or 0, name) from error


def _write(workspace: Path, name: str, data: bytes, keeps: Keeps) -> None:
    workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        write_whole(workspace, name, data, best_opener(), keeps(len(data)))
    except CannotKeep as error:
        raise ToolFailed(f"{name} was not changed: {error}", "delete large files") from error


def _read(workspace: Path, name: str) -> str | None:
    if not os.path.lexists(workspace / name):
        return None
    return text_in(read_whole(workspace, name, best_opener(), LARGEST), name).text


NAME = "HEARTBEAT.md"
DRAFT = "HEARTBEAT.draft.md"
"""The list that was shown to the user for confirmation."""
MOST_LINES = 20
LONGEST_LINE = 300
"""Characters; longer lines are cut."""

_COMMENT = LatePattern(r"<!--.*?(-->|\Z)", re.DOTALL)
_HEADING = LatePattern(r"#{1,6}(\s|$)")
_RULE = LatePattern(r"([-*_=]\s*){3,}")
_BULLET = LatePattern(r"([-*+]|\d{1,3}[.)])(\s+|$)")
_BOX = LatePattern(r"\[(?P<mark>[ xX✓✔])?\](\s+|$)")


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


async def read_draft(workspace: Path) -> str | None:
    """Return the draft, or None if there is none. Raises ToolFailed if it cannot or may not be read."""
    return await read_note(workspace, DRAFT)


def digest_of(draft: str) -> str:
    """Return what tells this draft from another one, for the button below it."""
    return hashlib.sha256(draft.encode()).hexdigest()[:12]


async def take_draft(workspace: Path, keeper: Keeper, author: Author, digest: str) -> bool:
    """Replace the list by the draft; `keeper` keeps the previous version.

    Returns False if the draft is not the one with this digest, or there is none. Raises ToolFailed.
    """
    text = await read_draft(workspace)
    if text is None or digest_of(text) != digest:
        return False
    await write_note(workspace, NAME, text, partial(keeper.file, author, NAME))
    await drop_note(workspace, DRAFT)
    return True


async def drop_draft(workspace: Path) -> None:
    await drop_note(workspace, DRAFT)
