"""Non-interactive input and output: lines come from a pipe or a file, and only final messages are written."""

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Sequence
from typing import TextIO

from channels.base import OutboundMessage
from channels.terminal.text import readable

CHUNK = 64 * 1024


class Pipe:
    """Reads in a daemon thread, because regular files cannot be polled and a blocking read must not delay the exit."""

    def __init__(self, descriptor: int, output: TextIO) -> None:
        self._descriptor = descriptor
        self._output = output

    async def lines(self) -> AsyncGenerator[str | None, None]:
        """Yield the lines of the input. Bytes that are no UTF-8 are replaced."""
        chunks: asyncio.Queue[bytes] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        descriptor = os.dup(self._descriptor)  # for the thread alone, so that the number is not reused meanwhile
        threading.Thread(target=_read, args=(descriptor, loop, chunks), daemon=True).start()
        rest = b""
        while chunk := await chunks.get():
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield line.decode("utf-8", "replace")
        if rest:
            yield rest.decode("utf-8", "replace")

    async def settle(self, message: OutboundMessage) -> None:
        self._output.write(f"{readable(message)}\n")
        self._output.flush()

    def live(self, messages: Sequence[OutboundMessage]) -> None:
        """Do nothing; only final messages are written."""


def _read(descriptor: int, loop: asyncio.AbstractEventLoop, chunks: "asyncio.Queue[bytes]") -> None:
    """Pass on chunks until the input or the program ends, then close the descriptor."""
    chunk = b"?"
    with open(descriptor, "rb", buffering=0) as source:
        while chunk:
            try:
                chunk = os.read(source.fileno(), CHUNK)
            except OSError:  # the other side of the terminal is gone
                chunk = b""
            try:
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)
            except RuntimeError:  # the program ended
                return
