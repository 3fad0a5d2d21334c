"""A real HTTP server on loopback, the base of the emulators."""

import asyncio
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Self

from aiohttp import web

from parley.testing.emulators.control import Call, Changes, Effect, Faults

MAX_BODY = 64 * 2**20
SHUTDOWN_SECONDS = 0.01


class LoopbackServer(ABC):
    """Listens on 127.0.0.1 at `port` while entered; `url` has no trailing slash. Raises OSError if the port is taken.

    Strict: everything that the emulator does not know is answered with an error and recorded in `violations`, so that a
    fixture can assert that there were none.
    """

    cancel_on_disconnect = False

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.faults = Faults()
        self.calls: list[Call] = []
        self.violations: list[str] = []
        self.changes = Changes()
        self.url = ""
        self.port = 0
        """Port to listen on, set before entering; 0 takes any free one."""
        self._runner: web.AppRunner | None = None
        self._held: socket.socket | None = None

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=MAX_BODY)
        app.add_routes(self.routes())
        app.router.add_route("*", "/{tail:.*}", self._unknown_route)
        self._runner = web.AppRunner(
            app,
            access_log=None,
            shutdown_timeout=SHUTDOWN_SECONDS,
            handler_cancellation=self.cancel_on_disconnect,
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, backlog=2048)
        try:
            await site.start()
        except OSError:
            await self._runner.cleanup()
            raise
        port: int = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stop()
        if self._held is not None:
            self._held.close()

    async def leave(self) -> None:
        """Go away, so that nothing answers any more; nobody else gets the port while this server is entered."""
        assert self._runner is not None, "not entered"
        address = self._runner.addresses[0]
        await self._stop()
        self._held = socket.socket()  # bound, but not listening: connections are refused
        self._held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._held.bind(address)

    async def _stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    @abstractmethod
    def routes(self) -> Sequence[web.RouteDef]:
        """Return the routes of this emulator."""

    def calls_of(self, method: str) -> list[Call]:
        return [call for call in self.calls if call.method == method]

    def wait_for(self, condition: Callable[[], bool], timeout: float = 30.0) -> Awaitable[None]:
        """Wait until a condition holds, which is checked after every call and event of this emulator.

        With hundreds of chats wait on each chat instead (`chat.until`), as this would check all of them each time.
        """
        return self.changes.until(condition, timeout, self.describe)

    def describe(self) -> str:
        """Return the text that a failed wait prints."""
        recent = ", ".join(f"{call.method}={call.status}" for call in self.calls[-12:])
        return f"last calls: {recent or 'none'}; violations: {self.violations}"

    def violate(self, what: str) -> None:
        self.violations.append(what)
        self.changes.notify()

    def kill_connections(self) -> int:
        """Abort every open connection, also idle ones; return how many there were."""
        server = self._runner.server if self._runner is not None else None
        transports = [each.transport for each in server.connections] if server is not None else []
        for transport in transports:
            if transport is not None:
                transport.abort()
        return len(transports)

    async def perform(
        self,
        request: web.Request,
        call: Call,
        process: Callable[[], Awaitable[web.StreamResponse]],
        refuse: Callable[[Effect], web.StreamResponse],
    ) -> web.StreamResponse:
        """Perform one call under the matching faults; `refuse` formats an injected error."""
        self.calls.append(call)
        effect = self.faults.take(call)
        if effect.hold is not None:
            self.changes.notify()
            await effect.hold.wait()
        if effect.delay:
            await asyncio.sleep(effect.delay)
        if effect.drop:
            return self.kill(request)
        response = await process() if effect.status is None else refuse(effect)
        if effect.answer_late is not None:
            self.changes.notify()
            await effect.answer_late.wait()
        if effect.lose_answer:
            return self.kill(request)
        call.status = response.status
        self.changes.notify()
        return response

    def kill(self, request: web.Request) -> web.Response:
        """Abort the connection of this request; the returned response is not delivered."""
        if request.transport is not None:
            request.transport.abort()
        self.changes.notify()
        return web.Response()

    async def _unknown_route(self, request: web.Request) -> web.Response:
        self.violate(f"unknown route {request.method} {request.path}")
        return web.json_response({"error": "unknown route"}, status=404)
