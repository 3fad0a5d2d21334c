"""Writing whole files into the chat's workspace."""

import asyncio
import os
from pathlib import Path

from agent_core.beneath import Opener
from agent_core.builtin.files.confined import failure, shown, split
from agent_core.builtin.files.contents import in_words
from agent_core.builtin.files.replace import locked, open_made_folder, replace, replaceable
from agent_core.tools import Tool, ToolContext, ToolFailed, tool

MOST_BYTES = 5_000_000


def write_file_tool(opener: Opener) -> Tool:
    """The tool `write_file`."""

    @tool(acts="write", idempotent=True, label="Writing {path}")
    async def write_file(path: str, content: str, context: ToolContext) -> str:
        """Create or replace a text file of the workspace."""
        data = encoded(content, path)
        return await asyncio.to_thread(write_whole, context.workspace, path, data, opener)

    return write_file


def encoded(text: str, path: str) -> bytes:
    """What is to stand in the file. Raises ToolFailed where that is too much or no text."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise ToolFailed("the text holds half a character (a lone surrogate)", "send whole characters") from error
    if len(data) > MOST_BYTES:
        raise ToolFailed(f"{shown(path)} would have {in_words(len(data))}; {in_words(MOST_BYTES)} is the most")
    return data


def write_whole(workspace: Path, path: str, data: bytes, opener: Opener) -> str:
    """What was done, in a sentence. Blocks. Raises ToolFailed."""
    names, name = split(path)
    try:
        folder = open_made_folder(workspace, names, opener)
        try:
            with locked(folder):
                old = replaceable(folder, name, path)
                replace(folder, name, data, old.st_mode & 0o777 if old else 0o600)
        finally:
            os.close(folder)
    except OSError as error:
        raise failure(error.errno or 0, path) from error
    was = f", was {in_words(old.st_size)}" if old else ""
    return f"{'Replaced' if old else 'Created'} {shown(path)} ({in_words(len(data))}{was})."
