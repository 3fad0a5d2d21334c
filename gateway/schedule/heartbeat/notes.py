"""Reads and writes short files in a chat's workspace.

Users and the model can put anything there, so files are opened with care.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from agent_core.tools.files.confined import LOOK, failure, open_file
from agent_core.tools.files.writing import encoded, write_whole
from agent_core.tools.tool import ToolFailed
from agent_core.workspace.keeper import CannotKeep
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
    handle = open_file(workspace, name)
    try:
        with os.fdopen(handle, "rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise failure(error.errno or 0, name) from error
    if len(content) > LARGEST:
        raise ToolFailed(f"{name} is longer than {LARGEST} bytes", LOOK)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ToolFailed(f"{name} is no UTF-8 text", LOOK) from error
