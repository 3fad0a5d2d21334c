"""The HTTP server for the web page, channels' web hooks and the routes for operators.

It listens on loopback only. Routes require the page's cookie unless passed as public; public routes authenticate their
callers themselves, as a platform's signed web hooks do.
"""

import asyncio
import errno
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import cast

import structlog
from aiohttp import web

from gateway.errors import ParleyError
from gateway.security.log_throttle import LogThrottle
from gateway.texts.about import About
from gateway.texts.say import language_of, model_reason
from gateway.web.access import PageAccess, read_secret
from gateway.web.assets import PAGES, PRIVATE_FILES, PUBLIC_FILES, file_route

log = structlog.get_logger(__name__)

MOST_STRANGERS = 256
"""Larger than the batch that the system hands over at once; else a new connection could be cut before it is read."""
HOST = "127.0.0.1"
IDLE_SECONDS = 20.0
"""Longest time that a connection may stay open without a complete request."""
BACKLOG = 128
MAX_BODY = 4 * 1024 * 1024
"""Most bytes of a request that is read as a whole. Uploaded files are streamed and have a limit of their own."""
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


class Connections:
    """Protocol factory for `loop.create_server` that tracks unauthenticated connections."""

    def __init__(self, make: Callable[[], asyncio.Protocol], most: int = MOST_STRANGERS) -> None:
        self._make = make
        self._most = most
        self._strangers: dict[Connection, asyncio.Transport] = {}
        self._too_many = LogThrottle()

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


class PortBusy(ParleyError):
    """The port is in use by another program."""

    def __init__(self, port: int) -> None:
        super().__init__(
            f"port {port} is taken by another program, perhaps another Parley: stop it, or choose another port "
            f"with PARLEY_WEB_PORT={port + 1}"
        )
        self.port = port


class HttpServer:
    """HTTP server on loopback. `close` gives open streams two seconds to end."""

    def __init__(
        self,
        routes: Iterable[web.RouteDef],
        *,
        public_routes: Iterable[web.RouteDef] = (),
        about: Callable[[], About],
        home: Path,
        port: int,
        link_changed: Callable[[str], None] = lambda _: None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        """Create the server without listening.

        Args:
            home: Folder of the key that signs the page's sessions.
            port: Port to listen on; 0 takes any free one.
            link_changed: Called with the next sign-in link once one has been used.
            idle_seconds: Longest time between two requests on a connection.
        """
        self._about = about
        self._wanted_port = port
        self._port = port
        public = [*map(file_route, PUBLIC_FILES), *public_routes]
        self._access = PageAccess(
            read_secret(home / "page.key"),
            public=[route.path for route in public],
            refused=(PAGES / "refused.html").read_text(encoding="utf-8"),
            let_in=self._let_in,
            link_changed=lambda: link_changed(self.link),
        )
        app = web.Application(middlewares=[self._access.middleware()], client_max_size=MAX_BODY)
        app.on_response_prepare.append(_add_headers)
        own = [file_route("index.html", "/"), *map(file_route, PRIVATE_FILES), web.get("/api/about", self._get_about)]
        app.add_routes([*public, *own, *routes])
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=2.0, keepalive_timeout=idle_seconds)
        self._listener: asyncio.Server | None = None

    @property
    def port(self) -> int:
        """Port that the server listens on."""
        return self._port

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._port}/"

    @property
    def link(self) -> str:
        """Sign-in link for one browser. It works once, and is then replaced."""
        return f"{self.url}?token={self._access.token}"

    async def start(self) -> None:
        """Start to listen. Raises PortBusy, or ParleyError if the system refuses the port."""
        await self._runner.setup()
        self._connections = Connections(cast(Callable[[], asyncio.Protocol], self._runner.server))
        try:
            self._listener = await asyncio.get_running_loop().create_server(
                self._connections, HOST, self._wanted_port, backlog=BACKLOG
            )
        except OSError as error:
            await self._runner.cleanup()
            if error.errno == errno.EADDRINUSE:
                raise PortBusy(self._wanted_port) from error
            raise ParleyError(
                f"port {self._wanted_port} cannot be used ({os.strerror(error.errno or 0)}): choose another port with "
                "PARLEY_WEB_PORT, 1024 or higher"
            ) from error
        self._port = self._listener.sockets[0].getsockname()[1]
        log.debug("http_listening", port=self._port)  # the link is printed

    async def close(self) -> None:
        if self._listener is not None:
            self._listener.close()
        await self._runner.cleanup()

    def _let_in(self, request: web.Request) -> None:
        self._connections.let_in(request.transport)

    async def _get_about(self, request: web.Request) -> web.Response:
        about = self._about()
        why = model_reason(about.why, language_of(request.headers.get("Accept-Language"), "en"))
        return web.json_response(about.model_dump(include={"model", "demo", "version"}) | {"why": why})


async def _add_headers(_: web.Request, response: web.StreamResponse) -> None:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.pop("Server", None)
