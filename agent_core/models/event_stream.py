"""Event streams: from bytes to the documents in them, as servers of models send them."""

import codecs
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator

from agent_core.json_text import read_first, read_json

EVENTS = "text/event-stream"
"""The type of their content."""
LONGEST_LINE = 16 * 1024 * 1024
"""Bytes; a server that sends more without a line break is broken."""
MOST_LINES = 1000
"""Lines of one document."""

_NEXT = re.compile(r"\S")
_SEVERAL = re.compile(r"\}\s*\{")
_FIELDS = (b"event", b"id", b"retry")
_BOM = b"\xef\xbb\xbf"


class NotAnEventStream(ValueError):
    """The server sent a line that is not part of an event stream."""


class SseReader:
    """Turns chunks of bytes into the text of `data:` lines.

    Each `data:` line counts as an event of its own: nearly every model server sends one JSON document per line, and
    some leave out the empty line between events. So line ends may be LF, CRLF or CR; an LF alone after a CR is an empty
    line. A line with the beginning of a document is joined with those after it, and one with several is taken
    apart.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._pending = 0
        self._part: list[str] = []
        """The lines of a document that has begun."""
        self._is_first = True
        self._is_bare = False
        """True within a document over several lines that began without `data:`."""

    def feed(self, chunk: bytes) -> Iterator[str]:
        """Yield the events that `chunk` completes; consume them all. Raises NotAnEventStream after the valid ones."""
        end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
        block = chunk[:end]
        if block and self._pieces:
            block = b"".join((*self._take(), block))
        if end < len(chunk):
            self._keep(chunk[end:])
        for line in block.splitlines():
            if not line and not self._part:
                continue
            is_whole = line.startswith(b"data: {") and line.endswith(b"}") and line.count(b"{") <= line.count(b"}")
            text = line[len(b"data: ") :].decode("utf-8", "replace") if is_whole and not self._part else ""
            if text and not _SEVERAL.search(text):  # as of nearly all lines
                self._is_first = False
                yield text
            else:
                yield from self._line(line)

    def finish(self) -> Iterator[str]:
        """Yield the event of a last line without a line break."""
        yield from self._line(b"".join(self._take()))
        yield from self._whole()

    def _line(self, line: bytes) -> Iterator[str]:
        if self._is_first and line:
            line, self._is_first = line.removeprefix(_BOM), False
        if not line:
            yield from self._whole()
        self._is_bare = bool(line) and (self._is_bare or line.strip() in (b"{", b"["))
        text = line.decode("utf-8", "replace") if self._is_bare else _data(line)
        if not text:
            return
        if self._part and text.startswith("{") and _is_json("\n".join(self._part)):
            yield from self._whole()
        if not self._part and not self._is_bare and text.count("{") <= text.count("}"):
            yield from documents_in(text)
            return
        self._part.append(text)
        if len(self._part) > MOST_LINES:
            raise NotAnEventStream(f"a document of more than {MOST_LINES} lines")

    def _whole(self) -> Iterator[str]:
        """Yield the lines that wait for the end of their document."""
        if self._part:
            whole, self._part = "\n".join(self._part), []
            yield from documents_in(whole)

    def _keep(self, rest: bytes) -> None:
        self._pieces.append(rest)
        self._pending += len(rest)
        if self._pending > LONGEST_LINE:
            raise NotAnEventStream(f"a line of more than {LONGEST_LINE} bytes")

    def _take(self) -> list[bytes]:
        pieces, self._pieces, self._pending = self._pieces, [], 0
        return pieces


class Utf8:
    """Turns the parts of a body into UTF-8, from whatever Unicode its first bytes show, as those of JSON do."""

    def __init__(self) -> None:
        self._decoder: codecs.IncrementalDecoder | None = None
        self._is_first = True

    def of(self, chunk: bytes) -> bytes:
        if self._is_first and not (encoding := json.detect_encoding(chunk[:4])).startswith("utf-8"):
            self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._is_first = False
        return self._decoder.decode(chunk).encode("utf-8", "replace") if self._decoder else chunk


async def in_utf8(chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """Yield a body in UTF-8."""
    utf8 = Utf8()
    async for chunk in chunks:
        yield utf8.of(chunk)


def documents_in(text: str) -> Iterator[str]:
    """Yield the JSON documents in a text: one after the other, or in a list; the text itself if it is a single one."""
    if not (text.startswith(("[{", "[\n")) or _SEVERAL.search(text)):
        yield text
        return
    values: list[object] = []
    place, end = 0, len(text.rstrip())
    try:
        while place < end:
            value, place = read_first(text, place)
            values += value if isinstance(value, list) else [value]
            following = _NEXT.search(text, place)
            place = following.start() if following else end
    except ValueError:
        yield text
        return
    yield from [text] if len(values) == 1 and text.startswith("{") else map(json.dumps, values)


def _is_json(text: str) -> bool:
    try:
        read_json(text)
    except ValueError:
        return False
    return True


def _data(line: bytes) -> str:
    """Return the text after `data:`, which some servers leave out; empty for lines without any. Invalid UTF-8 becomes
    U+FFFD. What llama.cpp of 2025 sends in a field `error` is put into an object."""
    name, _, value = (b"data", b":", line) if line.startswith((b'{"', b'[{"')) else line.partition(b":")
    text = value.strip().decode("utf-8", "replace")
    if name == b"data":
        return text
    if name == b"error":
        return f'{{"error": {text if _is_json(text) else json.dumps(text)}}}'
    if name.strip() and name not in _FIELDS:
        raise NotAnEventStream(line[:200].decode("utf-8", "replace").strip())
    return ""
