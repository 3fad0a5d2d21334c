"""The tool `write_file`: writes whole files of the chat's workspace."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from agent_core.tools.files.confined import failure, names_of, shown, split
from agent_core.tools.files.contents import in_words
from agent_core.tools.files.replace import locked, open_made_folder, replace, replaceable
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool
from agent_core.untrusted import sources_of
from agent_core.workspace.keeper import CannotKeep
from agent_core.workspace.safe_open import Opener

MOST_BYTES = 5_000_000


def write_file_tool(opener: Opener) -> Tool:
    @tool(acts="write", idempotent=True, label="Writing {path}")
    async def write_file(path: str, content: str, context: ToolContext) -> str:
        """Create or overwrite a text file in the workspace."""
        data = encoded(content, path)
        return await asyncio.to_thread(_write, context, path, data, opener)

    return write_file


def encoded(text: str, path: str) -> bytes:
    """Encode the content of a file. Raises ToolFailed if it is too large or invalid."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise ToolFailed("the text holds half a character (a lone surrogate)", "send whole characters") from error
    if len(data) > MOST_BYTES:
        raise ToolFailed(f"{shown(path)} would have {in_words(len(data))}; {in_words(MOST_BYTES)} is the most")
    return data


def _write(context: ToolContext, path: str, data: bytes, opener: Opener) -> str:
    keeps = keeping(context, "write_file", names_of(path), len(data))
    done = write_whole(context.workspace, path, data, opener, keeps)
    context.files.wrote(path, sources_of(context.messages))
    return done


def write_whole(
    workspace: Path, path: str, data: bytes, opener: Opener, keeps: AbstractContextManager[None] | None = None
) -> str:
    """Write a file and return a sentence about it. Blocks; `keeps` is entered around the change, for undo. Raises
    ToolFailed."""
    names, name = split(path)
    try:
        folder = open_made_folder(workspace, names, opener)
        try:
            with locked(folder), keeps or nullcontext():
                old = replaceable(folder, name, path)
                replace(folder, name, data, old.st_mode & 0o777 if old else 0o600)
        finally:
            os.close(folder)
    except OSError as error:
        raise failure(error.errno or 0, path) from error
    was = f", was {in_words(old.st_size)}" if old else ""
    return f"{'Replaced' if old else 'Created'} {shown(path)} ({in_words(len(data))}{was})."


@contextmanager
def keeping(context: ToolContext, tool: str, names: Sequence[str], size: int) -> Iterator[None]:
    """Record the change of one file to this size, made in the `with` block. Blocks. Raises ToolFailed if that is not
    possible."""
    try:
        with context.keeper.file(context.author(tool), "/".join(names), size):
            yield
    except CannotKeep as error:
        raise ToolFailed(f"the file was not changed: {error}", "tell the person; deleting large files helps") from error
