"""The tools `read_file` and `list_dir` for the chat's workspace."""

import asyncio
import os
import stat
from collections.abc import Callable
from pathlib import Path

from agent_core.origin import DATA
from agent_core.tool_result import ToolResult
from agent_core.tools.files.confined import in_words, open_file, open_folder, read_content, shown, text_in
from agent_core.tools.files.pictures import picture_type, show_picture
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool
from agent_core.workspace.safe_open import Opener

MOST_BYTES = 8_000_000
MOST_LINES = 1000
PAGE_CHARS = 12_000
LINE_CHARS = 2000
MOST_ENTRIES = 200


def read_file_tool(opener: Opener, *, vision: Callable[[], bool]) -> Tool:
    """Return the tool `read_file`; `vision` returns True while the model can see pictures."""

    @tool(execution="parallel", label="Reading {path}", labels={"zh": "读取 {path}"})
    async def read_file(path: str, context: ToolContext, offset: int = 1, limit: int = 200) -> ToolResult:
        """Read a file from line `offset`."""
        content = await asyncio.to_thread(read_whole, context.workspace, path, opener)
        origin = DATA | await asyncio.to_thread(context.files.of_content, path, content)
        kind = picture_type(content)
        if kind is None:
            found = await asyncio.to_thread(text_in, content, path)
            page = _page(found.text, path, max(1, offset), min(max(1, limit), MOST_LINES))
            return ToolResult.of(f"{page}\n[{found.note}]" if found.note else page, origin)
        if not vision():
            raise ToolFailed(f"{shown(path)} is a picture ({in_words(len(content))}), which this model cannot see")
        return show_picture(content, kind, path, origin)

    return read_file


def list_dir_tool(opener: Opener) -> Tool:
    @tool(execution="parallel", label="Listing {path}", labels={"zh": "查看文件"})
    async def list_dir(context: ToolContext, path: str = ".") -> ToolResult:
        """List a folder."""
        before = await asyncio.to_thread(context.files.of_names, path)
        listing = await asyncio.to_thread(_listing, context.workspace, path, opener)
        return ToolResult.of(listing, DATA | before | await asyncio.to_thread(context.files.of_names, path))

    return list_dir


def read_whole(workspace: Path, path: str, opener: Opener, most: int = MOST_BYTES) -> bytes:
    """Return the content of a file. Raises ToolFailed if it is longer than `most`, or cannot or may not be read."""
    handle = open_file(workspace, path, opener)
    try:
        return read_content(handle, path, most)
    finally:
        os.close(handle)


def _page(text: str, path: str, offset: int, limit: int) -> str:
    lines = text.removesuffix("\n").split("\n")
    if not text:
        return "(the file is empty)"
    if offset > len(lines):
        raise ToolFailed(f"{shown(path)} has {len(lines)} lines", "give a smaller offset")
    page: list[str] = []
    room = PAGE_CHARS
    for line in lines[offset - 1 : offset - 1 + limit]:
        short = _short(line.removesuffix("\r"))
        room -= len(short) + 1
        if room < 0:
            break
        page.append(short)
    last = offset - 1 + len(page)
    if offset > 1 or last < len(lines):
        more = f"; go on with offset={last + 1}" if last < len(lines) else ""
        page.append(f"[lines {offset}-{last} of {len(lines)}{more}]")
    return "\n".join(page)


def _short(line: str) -> str:
    cut = len(line) - LINE_CHARS
    return line if cut <= 0 else f"{line[:LINE_CHARS]} [... {cut} more characters in this line]"


def has_files(workspace: Path) -> bool:
    """Return True if there is anything in a workspace. Blocks, for a moment."""
    try:
        with os.scandir(workspace) as found:
            return any(found)
    except OSError:
        return False


def _listing(workspace: Path, path: str, opener: Opener) -> str:
    if not workspace.exists():
        return "(the workspace is empty)"
    handle = open_folder(workspace, path, opener)
    try:
        with os.scandir(handle) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        lines = [_line(entry) for entry in entries[:MOST_ENTRIES]]
    finally:
        os.close(handle)
    if len(entries) > MOST_ENTRIES:
        lines.append(f"[{len(entries) - MOST_ENTRIES} more]")
    return "\n".join(lines) or "(empty)"


def _line(entry: os.DirEntry[str]) -> str:
    name = shown(entry.name)
    try:
        about = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return f"{name} (just removed)"
    if stat.S_ISDIR(about.st_mode):
        return f"{name}/"
    if stat.S_ISREG(about.st_mode):
        return f"{name} ({in_words(about.st_size)})"
    return f"{name} (a link, not followed)" if stat.S_ISLNK(about.st_mode) else f"{name} (no regular file)"
