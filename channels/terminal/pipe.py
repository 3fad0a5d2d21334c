"""A terminal that is none: lines come from a pipe or a file, and only what is final is written."""

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Sequence
from typing import TextIO

CHUNK = 64 * 1024


class Pipe:
    """Reads by a thread, for a regular file cannot be waited for; it ends with the program, whatever the file does."""

    def __init__(self, descriptor: int, output: TextIO) -> None:
        self._descriptor = descriptor
        self._output = output

    async def lines(self) -> AsyncGenerator[str | None, None]:
        """Until the end of the input. Bytes that are no UTF-8 are replaced."""
        chunks: asyncio.Queue[bytes] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop, chunks), daemon=True).start()
        rest = b""
        while chunk := await chunks.get():
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield line.decode("utf-8", "replace")
        if rest:
            yield rest.decode("utf-8", "replace")

    async def settle(self, text: str) -> None:
        self._output.write(f"{text}\n")
        self._output.flush()

    def live(self, texts: Sequence[str]) -> None:
        """Nothing that is not final is written."""

    def _read(self, loop: asyncio.AbstractEventLoop, chunks: "asyncio.Queue[bytes]") -> None:
        chunk = b"?"
        while chunk:
            try:
                chunk = os.read(self._descriptor, CHUNK)
            except OSError:  # the other side of a terminal is gone
                chunk = b""
            try:
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)
            except RuntimeError:  # the program ended
                return
