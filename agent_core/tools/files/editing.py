"""The tool `edit_file`: replaces one exact piece of text and leaves the rest of the file unchanged."""

import asyncio
import difflib
import os
import re
from dataclasses import dataclass
from itertools import islice

from agent_core.messages import TextContent
from agent_core.sources import union
from agent_core.tool_result import ToolResult
from agent_core.tools.files.confined import check_file, failure, names_of, open_folder_of, shown
from agent_core.tools.files.contents import read_content
from agent_core.tools.files.matching import Match, apply, find
from agent_core.tools.files.replace import locked, replace, replaceable
from agent_core.tools.files.writing import MOST_BYTES, encoded, keeping
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool
from agent_core.untrusted import sources_of
from agent_core.workspace.safe_open import FILE, Opener

_CONTEXT = 3
_STARTS = re.compile(r"(?<= )([-+])([0-9]+)")
_COMPARED_LINES = 1000
"""If more lines than this changed, they are only counted: comparing them takes too long."""
MOST_LINES = 60
LINE_CHARS = 200


@dataclass(frozen=True)
class Diff:
    added: int
    removed: int
    text: str
    """Unified diff, cut if long."""

    @property
    def counts(self) -> str:
        return f"+{self.added} -{self.removed}"

    @classmethod
    def of(cls, before: str, after: str, path: str) -> "Diff":
        old, new = before.split("\n"), after.split("\n")
        start, end = _same_start(old, new), 0
        while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
            end += 1
        cut_old, cut_new = old[start : len(old) - end], new[start : len(new) - end]
        if max(len(cut_old), len(cut_new)) > _COMPARED_LINES:
            return cls(len(cut_new), len(cut_old), "(too many lines to show)")
        first, last = max(0, start - _CONTEXT), max(0, end - _CONTEXT)
        hunks = difflib.unified_diff(
            old[first : len(old) - last], new[first : len(new) - last], n=_CONTEXT, lineterm=""
        )
        lines = [f"--- {path}", f"+++ {path}", *(_moved(line, first) for line in islice(hunks, 2, None))]
        added = sum(line.startswith("+") for line in lines[2:])
        removed = sum(line.startswith("-") for line in lines[2:])
        return cls(added, removed, _text(lines))


def _same_start(old: list[str], new: list[str]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((number for number, (one, other) in pairs if one != other), min(len(old), len(new)))


def _moved(line: str, by: int) -> str:
    """Shift the line numbers of a hunk's head, which count from the first compared line."""
    if not line.startswith("@@"):
        return line
    return _STARTS.sub(lambda found: f"{found[1]}{int(found[2]) + by}", line)


def _text(lines: list[str]) -> str:
    shown = [line.removesuffix("\r")[:LINE_CHARS] for line in lines[:MOST_LINES]]
    return "\n".join(shown if len(lines) <= MOST_LINES else [*shown, f"[{len(lines) - MOST_LINES} more lines]"])


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
        """Replace text that occurs once in a file, or every occurrence."""
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
