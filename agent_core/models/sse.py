"""Parsing of server-sent events from bytes as they arrive, split at any point."""

from collections.abc import Iterator

LONGEST_LINE = 16 * 1024 * 1024
"""Bytes; a server that sends more without a line break is broken."""

_FIELDS = (b"event", b"id", b"retry")


class NotAnEventStream(ValueError):
    """The server sent a line that is not part of an event stream."""


class SseReader:
    """Turns chunks of bytes into the text of `data:` lines.

    Each `data:` line counts as an event of its own: every model server sends one JSON document per line, and some leave
    out the empty line between events. So line ends may be LF, CRLF or CR; an LF alone after a CR is an empty line.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._pending = 0

    def feed(self, chunk: bytes) -> Iterator[str]:
        """Yield the events that `chunk` completes; consume them all. Raises NotAnEventStream after the valid ones."""
        end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
        block = b"".join((*self._take(), chunk[:end])) if end else b""
        if end < len(chunk):
            self._keep(chunk[end:])
        for line in block.splitlines():
            if text := _data(line):
                yield text

    def finish(self) -> Iterator[str]:
        """Yield the event of a last line without a line break."""
        if text := _data(b"".join(self._take())):
            yield text

    def _keep(self, rest: bytes) -> None:
        self._pieces.append(rest)
        self._pending += len(rest)
        if self._pending > LONGEST_LINE:
            raise NotAnEventStream(f"a line of more than {LONGEST_LINE} bytes")

    def _take(self) -> list[bytes]:
        pieces, self._pieces, self._pending = self._pieces, [], 0
        return pieces


def _data(line: bytes) -> str:
    """Return the text after `data:`, empty for lines without any; invalid UTF-8 becomes U+FFFD."""
    name, _, value = line.partition(b":")
    if name == b"data":
        return value.strip().decode("utf-8", "replace")
    if name and name not in _FIELDS:
        raise NotAnEventStream(line[:200].decode("utf-8", "replace").strip())
    return ""
