"""Limits a server's unauthenticated connections, so that they can neither use up its file handles nor lock users out.

Any program on the machine can open connections and leave them open. Those that have not authenticated are counted, and
above a limit each new one cuts off the oldest of them. Authenticated connections stay.
"""

import asyncio
from collections.abc import Callable

import structlog

from gateway.security.seldom import Seldom

MOST_STRANGERS = 256
"""Larger than the batch that the system hands over at once; else a new connection could be cut before it is read."""

log = structlog.get_logger(__name__)


class Connections:
    """Protocol factory for `loop.create_server` that tracks unauthenticated connections."""

    def __init__(self, make: Callable[[], asyncio.Protocol], most: int = MOST_STRANGERS) -> None:
        self._make = make
        self._most = most
        self._strangers: dict[Connection, asyncio.Transport] = {}
        self._too_many = Seldom()

    def __call__(self) -> "Connection":
        return Connection(self._make(), self)

    def let_in(self, transport: asyncio.Transport | None) -> None:
        """Exempt a connection from the limit once it has authenticated."""
        protocol = transport.get_protocol() if transport is not None else None
        if isinstance(protocol, Connection):
            self._strangers.pop(protocol, None)

    def opened(self, connection: "Connection", transport: asyncio.Transport) -> None:
        if len(self._strangers) >= self._most:
            oldest = next(iter(self._strangers))
            self._strangers.pop(oldest).abort()
            if self._too_many.is_due():
                log.warning("too many connections to the page; the oldest that showed no key are cut off")
        self._strangers[connection] = transport

    def closed(self, connection: "Connection") -> None:
        self._strangers.pop(connection, None)


class Connection(asyncio.Protocol):
    """Forwards everything to the wrapped protocol and reports opening and closing."""

    def __init__(self, inner: asyncio.Protocol, among: Connections) -> None:
        self._inner = inner
        self._among = among

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._among.opened(self, transport)
        self._inner.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._among.closed(self)
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()
