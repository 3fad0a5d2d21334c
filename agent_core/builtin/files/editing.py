"""The tool `edit_file`: replaces one exact piece of text and leaves the rest of the file unchanged."""

import asyncio
import os
from dataclasses import dataclass

from agent_core.builtin.files.confined import check_file, failure, names_of, open_folder_of, shown
from agent_core.builtin.files.contents import read_content
from agent_core.builtin.files.diff import Diff
from agent_core.builtin.files.kept import keeping
from agent_core.builtin.files.matching import Match, apply, find
from agent_core.builtin.files.replace import locked, replace, replaceable
from agent_core.builtin.files.writing import MOST_BYTES, encoded
from agent_core.messages import TextContent
from agent_core.sources import union
from agent_core.tool_result import ToolResult
from agent_core.tools import Tool, ToolContext, ToolFailed, tool
from agent_core.untrusted import sources_of
from agent_core.workspace.safe_open import FILE, Opener


@dataclass(frozen=True)
class _Edit:
    path: str
    old: str
    new: str
    everywhere: bool

    def __post_init__(self) -> None:
        if not self.old:
            raise ToolFailed("old_text is empty", "give the text to replace; write_file makes new files")
        if self.old == self.new:
            raise ToolFailed("old_text and new_text are the same", "give the text as it is to be")
        for text in (self.old, self.new):
            encoded(text, self.path)


def edit_file_tool(opener: Opener) -> Tool:
    @tool(acts="write", label="Editing {path}")
    async def edit_file(
        path: str, old_text: str, new_text: str, *, replace_all: bool = False, context: ToolContext
    ) -> ToolResult:
        """Replace text that occurs once in a file, or all of it."""
        edit = _Edit(path, old_text, new_text, replace_all)
        sources = await asyncio.to_thread(context.files.of, [path])
        try:
            match, diff = await asyncio.to_thread(_edit, context, edit, opener)
        except ToolFailed as error:  # the error may quote the file
            error.sources = sources
            raise
        await asyncio.to_thread(context.files.wrote, path, union(sources, sources_of(context.messages)))
        places = f"at line {match.lines[0]}" if match.count == 1 else f"in {match.count} places"
        said = TextContent(text=f"Edited {shown(path)} {places} ({diff.counts}).")
        return ToolResult(content=(said,), details={"diff": diff.text}, summary=diff.counts).from_(sources)

    return edit_file


def _edit(context: ToolContext, edit: _Edit, opener: Opener) -> tuple[Match, Diff]:
    folder, name = open_folder_of(context.workspace, edit.path, opener)
    try:
        with locked(folder):
            before, mode = _before(folder, name, edit.path, opener)
            match = find(before, edit.old, edit.path, everywhere=edit.everywhere)
            after = apply(before, match, edit.new, MOST_BYTES)
            data = encoded(after, edit.path)
            with keeping(context, "edit_file", names_of(edit.path), len(data)):
                replace(folder, name, data, mode)
    except OSError as error:
        raise failure(error.errno or 0, edit.path) from error
    finally:
        os.close(folder)
    return match, Diff.of(before, after, edit.path)


def _before(folder: int, name: str, path: str, opener: Opener) -> tuple[str, int]:
    """Return the text, with its line endings and byte order mark, and the file's permissions."""
    handle = opener(folder, (name,), FILE)
    try:
        about = os.fstat(handle)
        check_file(about, path)
        replaceable(folder, name, path)
        content = read_content(handle, path, MOST_BYTES)
    finally:
        os.close(handle)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise ToolFailed(f"{shown(path)} is no text in UTF-8, so it cannot be edited") from error
    if "\0" in text:
        raise ToolFailed(f"{shown(path)} is a binary file, so it cannot be edited")
    return text, about.st_mode & 0o777
