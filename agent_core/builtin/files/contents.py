"""What stands in a file: its bytes up to a limit, and whether they are text."""

import codecs
import os

from agent_core.builtin.files.confined import shown
from agent_core.tools import ToolFailed

_BLOCK = 1 << 20
_SNIFFED = 8192


def read_content(handle: int, path: str, most: int) -> bytes:
    """All of a file from its start, however it grows meanwhile. Raises ToolFailed for more than `most` bytes."""
    blocks: list[bytes] = []
    size = 0
    while block := os.pread(handle, min(_BLOCK, most + 1 - size), size):
        blocks.append(block)
        size += len(block)
        if size > most:
            raise ToolFailed(f"{shown(path)} is larger than {in_words(most)}, too large to read")
    return b"".join(blocks)


def is_binary(start: bytes) -> bool:
    """Judged by how it begins, as grep and git do."""
    return b"\0" in start[:_SNIFFED] and not _is_utf16(start)


def decoded(content: bytes) -> str:
    """UTF-8, or UTF-16 that says so; what is neither is replaced character by character."""
    return content.decode("utf-16" if _is_utf16(content) else "utf-8-sig", "replace")


def text_in(content: bytes, path: str) -> str:
    """The text of a file in which a few characters may be broken. Raises ToolFailed for a binary file."""
    text = decoded(content)
    if _is_utf16(content):
        return text
    if b"\0" in content or text.count("\N{REPLACEMENT CHARACTER}") * 20 > len(text):
        raise ToolFailed(f"{shown(path)} is a binary file ({in_words(len(content))}), not text")
    return text


def in_words(size: int) -> str:
    """A number of bytes for people."""
    power = min((len(str(size)) - 1) // 3, 3)
    return f"{size / 1000**power:.1f} {('B', 'kB', 'MB', 'GB')[power]}" if power else f"{size} B"


def _is_utf16(content: bytes) -> bool:
    return content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
