"""Editing a file of the chat's workspace: one exact piece of text is replaced, and everything else stays as it is."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from agent_core.beneath import FILE, Opener
from agent_core.builtin.files.confined import check_file, failure, open_folder_of, shown
from agent_core.builtin.files.contents import read_content
from agent_core.builtin.files.diff import Diff
from agent_core.builtin.files.matching import Match, apply, find
from agent_core.builtin.files.replace import locked, replace, replaceable
from agent_core.builtin.files.writing import MOST_BYTES, encoded
from agent_core.messages import TextContent
from agent_core.tool_result import ToolResult
from agent_core.tools import Tool, ToolContext, ToolFailed, tool


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
    """The tool `edit_file`."""

    @tool(acts="write", untrusted=True, label="Editing {path}")
    async def edit_file(
        path: str, old_text: str, new_text: str, *, replace_all: bool = False, context: ToolContext
    ) -> ToolResult:
        """Replace text that occurs once in a file, or all of it."""
        edit = _Edit(path, old_text, new_text, replace_all)
        match, diff = await asyncio.to_thread(_edit, context.workspace, edit, opener)
        places = f"at line {match.lines[0]}" if match.count == 1 else f"in {match.count} places"
        said = TextContent(text=f"Edited {shown(path)} {places} ({diff.counts}).")
        return ToolResult(content=(said,), details={"diff": diff.text}, summary=diff.counts)

    return edit_file


def _edit(workspace: Path, edit: _Edit, opener: Opener) -> tuple[Match, Diff]:
    folder, name = open_folder_of(workspace, edit.path, opener)
    try:
        with locked(folder):
            before, mode = _before(folder, name, edit.path, opener)
            match = find(before, edit.old, edit.path, everywhere=edit.everywhere)
            after = apply(before, match, edit.new, MOST_BYTES)
            replace(folder, name, encoded(after, edit.path), mode)
    except OSError as error:
        raise failure(error.errno or 0, edit.path) from error
    finally:
        os.close(folder)
    return match, Diff.of(before, after, edit.path)


def _before(folder: int, name: str, path: str, opener: Opener) -> tuple[str, int]:
    """The text with its line endings and its mark of order, and the file's permissions."""
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
