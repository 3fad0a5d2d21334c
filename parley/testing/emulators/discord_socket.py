"""One connection of a client to the gateway, and its outgoing frames."""

import asyncio
import base64
import hashlib
import json
import zlib
from collections import deque
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.http_websocket import WS_KEY
from pydantic import JsonValue


@dataclass
class Socket:
    """One connection. Items in `outgoing` are sent in order; an int closes with that code."""

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
        """Send items until the socket closes."""
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


def handshake(key: str) -> bytes:
    """Return the response that upgrades a connection to a WebSocket (RFC 6455)."""
    accept = base64.b64encode(hashlib.sha1(key.encode() + WS_KEY, usedforsecurity=False).digest())
    said = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
    return said + accept + b"\r\n\r\n"
