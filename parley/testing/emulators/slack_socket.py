"""Socket Mode: at most ten web sockets, each opened with a single-use ticket."""

import asyncio
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from aiohttp import WSMsgType, web

from parley.testing.emulators.slack_line import Delivery
from parley.testing.emulators.slack_wire import Json

MOST_SOCKETS = 10
Reason = Literal["warning", "refresh_requested", "link_disabled", "too_many_websockets"]


@dataclass(eq=False)
class Socket:
    """One open connection of the app."""

    number: int
    ws: web.WebSocketResponse
    outgoing: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    leaving: bool = False
    """True if it was told to disconnect; nothing new is sent on it."""
    delivered: int = 0

    def send(self, frame: Json) -> None:
        self.outgoing.put_nowait(json.dumps(frame))

    async def write(self) -> None:
        try:
            while True:
                await self.ws.send_str(await self.outgoing.get())
        except (ConnectionError, RuntimeError):
            return


class SocketHub:
    """All sockets of the app. Events go to them in turn."""

    timeout_reason = "timeout"

    def __init__(self, app_id: str, violate: Callable[[str], None], changed: Callable[[], None]) -> None:
        self.sockets: list[Socket] = []
        self.opened = 0
        """Number of connections so far."""
        self.leaving_seconds = 0.05
        """Seconds for which a connection that was told to disconnect stays open."""
        self.on_ready: Callable[[], None] = lambda: None
        self.on_ack: Callable[[str, Json], None] = lambda _envelope, _answer: None
        self._app_id = app_id
        self._violate = violate
        self._changed = changed
        self._tickets: set[str] = set()
        self._numbers = itertools.count(1)
        self._turn = itertools.count()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def ready(self) -> list[Socket]:
        """Sockets that are ready and not told to disconnect."""
        return [each for each in self.sockets if not each.leaving and not each.ws.closed]

    def ticket(self) -> str:
        """Return the query of an address to connect to."""
        ticket = f"emulated-{next(self._numbers)}"
        self._tickets.add(ticket)
        return f"ticket={ticket}&app_id={self._app_id}"

    def carry(self, delivery: Delivery) -> bool:
        return self.send_text(json.dumps(delivery.envelope()))

    def send_text(self, text: str) -> bool:
        """Send a frame to the next socket; return False if there is none."""
        ready = self.ready
        if not ready:
            return False
        socket = ready[next(self._turn) % len(ready)]
        socket.delivered += 1
        socket.outgoing.put_nowait(text)
        return True

    def dismiss(self, how: Reason, sockets: list[Socket]) -> None:
        """Tell connections to disconnect and close them a moment later; after a mere warning they are used until
        then."""
        for socket in sockets:
            socket.leaving = how != "warning"
            socket.send({"type": "disconnect", "reason": how, "debug_info": {"host": "emulated-1"}})
            task = asyncio.create_task(self._close_soon(socket))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=404, text="invalid ticket")
        self._tickets.remove(ticket)
        ws = web.WebSocketResponse(max_msg_size=0)
        await ws.prepare(request)
        socket = Socket(next(self._numbers), ws)
        writer = asyncio.create_task(socket.write())
        try:
            if self._welcome(socket):
                await self._listen(socket)
            else:
                await self._close_soon(socket)
        finally:
            writer.cancel()
            if socket in self.sockets:
                self.sockets.remove(socket)
            self._changed()
        return ws

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*(each.ws.close() for each in [*self.sockets]))

    def _welcome(self, socket: Socket) -> bool:
        if len(self.sockets) >= MOST_SOCKETS:
            socket.send({"type": "disconnect", "reason": "too_many_websockets", "debug_info": {"host": "emulated-1"}})
            return False
        self.sockets.append(socket)
        self.opened += 1
        debug: Json = {
            "host": "emulated-1",
            "started": "2026-01-01 00:00:00.000",
            "build_number": 1,
            "approximate_connection_time": 18060,
        }
        info: Json = {"app_id": self._app_id}
        connections = len(self.sockets)
        socket.send({"type": "hello", "num_connections": connections, "connection_info": info, "debug_info": debug})
        self.on_ready()
        self._changed()
        return True

    async def _listen(self, socket: Socket) -> None:
        async for message in socket.ws:
            if message.type is not WSMsgType.TEXT:
                continue
            try:
                frame = json.loads(message.data)
                envelope, answer = str(frame["envelope_id"]), frame.get("payload") or {}
            except (ValueError, TypeError, KeyError):
                self._violate(f"a frame that acknowledges nothing: {message.data[:200]}")
                continue
            self.on_ack(envelope, answer if isinstance(answer, dict) else {"text": str(answer)})

    async def _close_soon(self, socket: Socket) -> None:
        await asyncio.sleep(self.leaving_seconds)
        await socket.ws.close()
