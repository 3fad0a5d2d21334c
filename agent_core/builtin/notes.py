"""The chat's notes: lines of `notes.md` in its workspace, which people may edit too."""

import asyncio
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from agent_core.builtin.files.confined import check_file, open_folder
from agent_core.builtin.files.replace import locked, replace
from agent_core.tools import ToolContext, ToolFailed, tool

FILE = "notes.md"
NOTE_CHARS = 500
MOST_NOTES = 200
MOST_BYTES = 256_000

_BREAKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")

T = TypeVar("T")


@tool(idempotent=True, acts="write", label="Noting: {text}")
async def add_note(text: str, context: ToolContext) -> str:
    """Keep a short note for the person."""
    note = _one_line(text)
    if not note:
        raise ToolFailed("a note needs words", "call it again with the words")
    if len(note) > NOTE_CHARS:
        raise ToolFailed(f"a note has at most {NOTE_CHARS} characters", "make it shorter, or several of it")

    def add(lines: list[str]) -> tuple[list[str], str]:
        notes = _notes(lines)
        if note in notes:
            return lines, f"Note {notes.index(note) + 1} says that already: {note}"
        if len(notes) >= MOST_NOTES:
            raise ToolFailed(f"there are {MOST_NOTES} notes already", "let the person delete some")
        return [*lines, f"- {note}"], f"Noted as number {len(notes) + 1}: {note}"

    return await asyncio.to_thread(_changed, context.workspace, add)


@tool(execution="parallel", untrusted=True, label="Reading the notes")
async def list_notes(context: ToolContext) -> str:
    """List the notes by number."""
    notes = _notes(await asyncio.to_thread(_lines, context.workspace))
    return "\n".join(f"{number}. {note}" for number, note in enumerate(notes, 1)) or "(no notes yet)"


@tool(acts="write", untrusted=True, label="Deleting note {number}")
async def delete_note(number: int, context: ToolContext) -> str:
    """Delete a note by number."""

    def delete(lines: list[str]) -> tuple[list[str], str]:
        places = [place for place, line in enumerate(lines) if _is_note(line)]
        if not 1 <= number <= len(places):
            raise ToolFailed(f"there is no note {str(number)[:20]}, there are {len(places)}", "look with list_notes")
        place = places[number - 1]
        return [*lines[:place], *lines[place + 1 :]], f"Deleted: {_notes([lines[place]])[0]}"

    return await asyncio.to_thread(_changed, context.workspace, delete)


def _one_line(text: str) -> str:
    """So that no note can look like two, or hide an escape sequence."""
    return _BREAKS.sub(" ", text.encode("utf-8", "replace").decode()).strip()


def _is_note(line: str) -> bool:
    return line.startswith("- ") and bool(line[2:].strip())


def _notes(lines: list[str]) -> list[str]:
    return [_one_line(line[2:])[:NOTE_CHARS] for line in lines if _is_note(line)]


def _lines(workspace: Path) -> list[str]:
    if not workspace.exists():
        return []
    folder = open_folder(workspace, ".")
    try:
        return _read(folder)
    finally:
        os.close(folder)


def _changed(workspace: Path, change: Callable[[list[str]], tuple[list[str], T]]) -> T:
    """Change the file as a whole: whoever reads it, or is killed, finds the old notes or the new ones."""
    workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = open_folder(workspace, ".")
    try:
        with locked(folder):
            lines = _read(folder)
            changed, answer = change(lines)
            if changed is not lines:
                _write(folder, "".join(f"{line}\n" for line in changed).encode("utf-8", "surrogateescape"))
            return answer
    finally:
        os.close(folder)


def _read(folder: int) -> list[str]:
    """The lines as they are; bytes that are no UTF-8 survive a rewrite."""
    try:
        handle = os.open(FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ToolFailed(f"{FILE} cannot be opened: {error.strerror}", "tell the person") from error
    try:
        check_file(os.fstat(handle), FILE)
    except ToolFailed:
        os.close(handle)
        raise
    with os.fdopen(handle, "rb") as stream:
        content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ToolFailed(f"{FILE} is too large to hold notes", "tell the person")
    text = content.decode("utf-8", "surrogateescape")
    return text.removesuffix("\n").split("\n") if text else []


def _write(folder: int, content: bytes) -> None:
    if len(content) > MOST_BYTES:
        raise ToolFailed(f"{FILE} would become too large", "let the person delete some notes")
    replace(folder, FILE, content)
