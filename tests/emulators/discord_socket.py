"""One connection of a client to the gateway, and what goes out on it."""

import asyncio
import json
import zlib
from collections import deque
from dataclasses import dataclass, field

from aiohttp import web
from pydantic import JsonValue


@dataclass
class Socket:
    """One connection. What is put into `outgoing` is sent in order; an int closes with that code."""

    response: web.WebSocketResponse
    compressed: bool
    outgoing: "asyncio.Queue[str | int]" = field(default_factory=asyncio.Queue)
    session_id: str = ""
    greeted: bool = False
    heard: deque[float] = field(default_factory=deque)
    close_code: int | None = None

    def put(self, op: int, data: JsonValue = None) -> None:
        self.outgoing.put_nowait(json.dumps({"op": op, "d": data, "s": None, "t": None}))

    def close(self, code: int) -> None:
        self.close_code = code
        self.outgoing.put_nowait(code)

    async def write(self) -> None:
        """Send what is put in until the socket closes."""
        compressor = zlib.compressobj()
        while True:
            item = await self.outgoing.get()
            if isinstance(item, int):
                await self.response.close(code=item)
                return
            if self.compressed:
                data = compressor.compress(item.encode()) + compressor.flush(zlib.Z_SYNC_FLUSH)
                await self.response.send_bytes(data)
            else:
                await self.response.send_str(item)
