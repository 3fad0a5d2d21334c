"""Reading the files of the chat's workspace, and nothing else."""

import asyncio
import codecs
import os
import stat
from pathlib import Path

from agent_core.builtin.confined import open_file, open_folder, shown
from agent_core.tools import ToolContext, ToolFailed, tool

MOST_BYTES = 8_000_000
MOST_LINES = 1000
PAGE_CHARS = 12_000
LINE_CHARS = 2000
MOST_ENTRIES = 200


@tool(execution="parallel", label="Reading {path}")
async def read_file(path: str, context: ToolContext, offset: int = 1, limit: int = 200) -> str:
    """Read a text file of the workspace from line `offset`."""
    text = await asyncio.to_thread(_read, context.workspace, path)
    return _page(text, path, max(1, offset), min(max(1, limit), MOST_LINES))


@tool(execution="parallel", label="Listing {path}")
async def list_dir(context: ToolContext, path: str = ".") -> str:
    """List a folder of the workspace."""
    return await asyncio.to_thread(_listing, context.workspace, path)


def _read(workspace: Path, path: str) -> str:
    with os.fdopen(open_file(workspace, path), "rb") as stream:
        content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ToolFailed(f"{shown(path)} is larger than {_size(MOST_BYTES)}, too large to read")
    return _decoded(content, path)


def _decoded(content: bytes, path: str) -> str:
    """UTF-8, or UTF-16 that says so; a few broken characters are replaced, more of them mean that it is no text."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace")
    text = content.decode("utf-8-sig", "replace")
    if b"\0" in content or text.count("\N{REPLACEMENT CHARACTER}") * 20 > len(text):
        raise ToolFailed(f"{shown(path)} is a binary file ({_size(len(content))}), not text")
    return text


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


def _listing(workspace: Path, path: str) -> str:
    if not workspace.exists():
        return "(the workspace is empty)"
    handle = open_folder(workspace, path)
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
        return f"{name} ({_size(about.st_size)})"
    return f"{name} (a link, not followed)" if stat.S_ISLNK(about.st_mode) else f"{name} (no regular file)"


def _size(size: int) -> str:
    power = min((len(str(size)) - 1) // 3, 3)
    return f"{size / 1000**power:.1f} {('B', 'kB', 'MB', 'GB')[power]}" if power else f"{size} B"
