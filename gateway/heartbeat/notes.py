"""Short files of a chat's workspace which people and the model write: read with care, for anything may be there."""

import asyncio
import os
from pathlib import Path

from agent_core.beneath import best_opener
from agent_core.builtin.files.confined import LOOK, failure, open_file
from agent_core.builtin.files.writing import encoded, write_whole
from agent_core.tools import ToolFailed

LARGEST = 16_000
"""Bytes."""


async def read_note(workspace: Path, name: str) -> str | None:
    """What the file says; None where there is none. Raises ToolFailed where it cannot or may not be read."""
    return await asyncio.to_thread(_read, workspace, name)


async def write_note(workspace: Path, name: str, text: str) -> None:
    """Make the file, or put this in its place. Raises ToolFailed."""
    await asyncio.to_thread(_write, workspace, name, encoded(text, name))


async def drop_note(workspace: Path, name: str) -> None:
    """Take the file away, if it is there. Raises ToolFailed."""
    try:
        await asyncio.to_thread((workspace / name).unlink, missing_ok=True)
    except OSError as error:
        raise failure(error.errno or 0, name) from error


def _write(workspace: Path, name: str, data: bytes) -> None:
    workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(workspace, name, data, best_opener())


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
