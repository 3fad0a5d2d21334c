"""HEARTBEAT.md of a chat's workspace: what its person wants looked after, a line for each thing."""

import re
from collections.abc import Sequence
from pathlib import Path

from gateway.heartbeat.notes import drop_note, read_note, write_note

NAME = "HEARTBEAT.md"
DRAFT = "HEARTBEAT.draft.md"
"""What was shown to the person, who has not said yes yet."""
MOST_LINES = 20
LONGEST_LINE = 300
"""Characters; what is longer is cut."""

_COMMENT = re.compile(r"<!--.*?(-->|\Z)", re.DOTALL)
_HEADING = re.compile(r"#{1,6}(\s|$)")
_RULE = re.compile(r"([-*_=]\s*){3,}")
_BULLET = re.compile(r"([-*+]|\d{1,3}[.)])(\s+|$)")
_BOX = re.compile(r"\[(?P<mark>[ xX✓✔])?\](\s+|$)")


def matters(text: str) -> tuple[str, ...]:
    """The lines that ask for something: blank lines, headings, comments and ticked or empty boxes do not."""
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
    """None of it where there is no file. Raises ToolFailed where it cannot or may not be read."""
    return matters(await read_note(workspace, NAME) or "")


async def draft_checklist(workspace: Path, title: str, lines: Sequence[str]) -> str:
    """Note a list that is to be shown before it counts, the old one's lines first; its text. Raises ToolFailed."""
    old = await read_note(workspace, NAME)
    new = [f"- [ ] {' '.join(line.split())[:LONGEST_LINE]}" for line in lines]
    text = "\n".join([*(old.rstrip().splitlines() if old and old.strip() else [f"# {title}", ""]), *new, ""])
    await write_note(workspace, DRAFT, text)
    return text


async def take_draft(workspace: Path) -> bool:
    """What was shown counts from now on; False where nothing is there to count. Raises ToolFailed."""
    text = await read_note(workspace, DRAFT)
    if text is None:
        return False
    await write_note(workspace, NAME, text)
    await drop_note(workspace, DRAFT)
    return True


async def drop_draft(workspace: Path) -> None:
    await drop_note(workspace, DRAFT)
