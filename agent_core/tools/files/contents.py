"""Reading of file contents up to a limit, and detection of text."""

import codecs
import os

from agent_core.tools.files.confined import shown
from agent_core.tools.tool import ToolFailed

_BLOCK = 1 << 20
_SNIFFED = 8192


def read_content(handle: int, path: str, most: int) -> bytes:
    """Read a file from its start, even if it grows meanwhile. Raises ToolFailed for more than `most` bytes."""
    blocks: list[bytes] = []
    size = 0
    while block := os.pread(handle, min(_BLOCK, most + 1 - size), size):
        blocks.append(block)
        size += len(block)
        if size > most:
            raise ToolFailed(f"{shown(path)} is larger than {in_words(most)}, too large to read")
    return b"".join(blocks)


def is_binary(start: bytes) -> bool:
    """Return True for binary content, judged by its start as in grep and git."""
    return b"\0" in start[:_SNIFFED] and not _is_utf16(start)


def decoded(content: bytes) -> str:
    """Decode UTF-8, or UTF-16 with a byte order mark; invalid bytes are replaced."""
    return content.decode("utf-16" if _is_utf16(content) else "utf-8-sig", "replace")


def text_in(content: bytes, path: str) -> str:
    """Return the text of a file, which may contain a few broken characters. Raises ToolFailed for a binary file."""
    text = decoded(content)
    if _is_utf16(content):
        return text
    if b"\0" in content or text.count("\N{REPLACEMENT CHARACTER}") * 20 > len(text):
        raise ToolFailed(f"{shown(path)} is a binary file ({in_words(len(content))}), not text")
    return text


def in_words(size: int) -> str:
    """Format a number of bytes for reading."""
    power = min((len(str(size)) - 1) // 3, 3)
    return f"{size / 1000**power:.1f} {('B', 'kB', 'MB', 'GB')[power]}" if power else f"{size} B"


def _is_utf16(content: bytes) -> bool:
    return content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
