"""The HTTP server for the web page, channels' web hooks and the routes for operators.

It listens on loopback unless the settings say how others can reach it safely (`address.py`). Routes require the keys of
a browser that is signed in (`access.py`) unless passed as public; public routes authenticate their callers themselves,
as a platform's signed web hooks do.
"""

import asyncio
import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from itertools import chain, zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import cast

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler

from gateway.errors import ParleyError
from gateway.security.log_throttle import LogThrottle
from gateway.texts.about import About
from gateway.texts.say import language_of, model_reason
from gateway.web.access import TOKEN, PageAccess
from gateway.web.address import ARRIVAL
from gateway.web.assets import PRIVATE_FILES, PUBLIC_FILES, file_route, script_routes
from gateway.web.links import LOCAL_PRINCIPAL, Link
from gateway.web.sign_in import SIGN_IN

log = structlog.get_logger(__name__)

_PARAMETER = re.compile(r"\{\w+(?::([^{}]+))?\}")

MOST_STRANGERS = 256
"""Larger than the batch that the system hands over at once; else a new connection could be cut before it is read."""
IDLE_SECONDS = 20.0
"""Longest time that a connection may stay open without a complete request."""
BACKLOG = 128
MAX_BODY = 4 * 1024 * 1024
"""Most bytes of a request that is read as a whole. Uploaded files are streamed and have a limit of their own."""
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' blob:; object-src 'none'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Referrer-Policy": "same-origin",  # with no-referrer browsers hide the origin of our own forms
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
PACKED = ("text/html", "application/json")
"""Types of answers that are compressed when they are made; files are compressed once (`assets.py`)."""
SMALLEST = 1024
"""Bytes from which such an answer is compressed."""
STRICT_TRANSPORT = "max-age=31536000"
"""From then on browsers use only https for the public name."""
HANDSHAKE_SECONDS = 5.0


class Connections:
    """Protocol factory for `loop.create_server` that tracks unauthenticated connections."""

    def __init__(
        self, make: Callable[[], asyncio.Protocol], most: int = MOST_STRANGERS, seconds: float = IDLE_SECONDS
    ) -> None:
        """`seconds` is the time after which a connection is cut that showed no key, however busy it is."""
        self._make = make
        self._most = most
        self._seconds = seconds
        self._strangers: dict[Connection, tuple[asyncio.Transport, asyncio.TimerHandle]] = {}
        self._too_many = LogThrottle()

    def __call__(self) -> "Connection":
        return Connection(self._make(), self)

    def opened(self, connection: "Connection", transport: asyncio.Transport) -> None:
        if len(self._strangers) >= self._most:
            oldest = next(iter(self._strangers))
            self._cut(oldest)
            if self._too_many.is_due():
                log.warning("too many connections to the page; the oldest that showed no key are cut off")
        timer = asyncio.get_running_loop().call_later(self._seconds, self._cut, connection)
        self._strangers[connection] = transport, timer

    def closed(self, connection: "Connection") -> None:
        """Forget a connection that is no stranger any more."""
        if found := self._strangers.pop(connection, None):
            found[1].cancel()

    def _cut(self, connection: "Connection") -> None:
        transport, timer = self._strangers.pop(connection)
        timer.cancel()
        transport.abort()


class Connection(asyncio.Protocol):
    """Forwards everything to the wrapped protocol and reports opening and closing."""

    def __init__(self, inner: asyncio.Protocol, among: Connections) -> None:
        self._inner = inner
        self._among = among
        self.waiting: set[asyncio.Task[object]] = set()
        """Tasks that are cancelled if the connection is lost."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._among.opened(self, cast(asyncio.Transport, transport))  # uvloop's is none by its class
        self._inner.connection_made(transport)

    def is_known(self) -> None:
        """Exempt it from the limits of strangers."""
        self._among.closed(self)

    def data_received(self, data: bytes) -> None:
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_known()
        for task in self.waiting:
            task.cancel()
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()


def let_in(request: web.Request) -> None:
    """Exempt the connection of a request that has shown a key from the limits of strangers."""
    if (connection := _connection_of(request)) is not None:
        connection.is_known()


@contextmanager
def while_connected(request: web.Request) -> Iterator[None]:
    """Cancel the current task if the program that asks leaves within the block."""
    waiting = set[asyncio.Task[object]]() if (connection := _connection_of(request)) is None else connection.waiting
    if (task := asyncio.current_task()) is None:
        raise RuntimeError("a request is answered in a task")
    if request.transport is None:  # it has left already
        task.cancel()
    waiting.add(task)
    try:
        yield
    finally:
        waiting.discard(task)


def _connection_of(request: web.Request) -> Connection | None:
    protocol = request.transport.get_protocol() if request.transport is not None else None
    return protocol if isinstance(protocol, Connection) else None


class PortBusy(ParleyError):
    """The port is in use by another program."""

    def __init__(self, port: int) -> None:
        super().__init__(
            f"port {port} is taken by another program, perhaps another Parley: stop it, or choose another port "
            f"with PARLEY_WEB_PORT={port + 1}"
        )
        self.port = port


class HttpServer:
    """HTTP server of the page. `close` gives open streams two seconds to end."""

    def __init__(
        self,
        routes: Iterable[web.RouteDef],
        *,
        access: PageAccess,
        public_routes: Iterable[web.RouteDef] = (),
        scripts: Mapping[str, Path] = MappingProxyType({}),
        about: Callable[[], About],
        port: int,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        """Create the server without listening.

        Args:
            scripts: Scripts that every page loads beside its own, by their paths.
            access: Decides which requests are served, and says where the server listens.
            port: Port to listen on; 0 takes any free one.
            idle_seconds: Longest time between two requests on a connection.

        Raises ValueError if a public route has the path of another one, whose check it would lift.
        """
        self.access = access
        self._about = about
        self._wanted_port = port
        self._port = port
        self._idle_seconds = idle_seconds
        public = [*map(file_route, PUBLIC_FILES), *public_routes]
        own = [file_route("index.html", "/"), *map(file_route, PRIVATE_FILES), *script_routes(scripts)]
        own.append(web.get("/api/about", self._get_about))
        guarded = [*own, *routes]
        _check_paths([route.path for route in public], {SIGN_IN, *(route.path for route in guarded)})
        check = access.middleware([route.path for route in public], let_in)
        app = web.Application(middlewares=[check, _packed], client_max_size=MAX_BODY)
        app.on_response_prepare.append(_add_headers)
        app.add_routes([*public, *guarded])
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=2.0, keepalive_timeout=idle_seconds)
        self._listener: asyncio.Server | None = None

    @property
    def port(self) -> int:
        """Port that the server listens on."""
        return self._port

    @property
    def url(self) -> str:
        """Address at which the page is reached, the public one if there is one."""
        address = self.access.address
        return f"{address.url or f'{address.scheme}://127.0.0.1:{self._port}'}/"

    @property
    def link(self) -> str:
        """Sign-in link for one browser. It works once, and is then replaced."""
        return self.link_of(self.access.links.console)

    def link_of(self, link: Link) -> str:
        return f"{self.url}?token={link.token}"

    def new_link(self) -> str:
        """Return a link for the person at this machine, which lasts ten minutes."""
        return self.link_of(self.access.links.give(LOCAL_PRINCIPAL, ""))

    async def start(self) -> None:
        """Start to listen. Raises PortBusy, or ParleyError if the system refuses the port."""
        address, loop = self.access.address, asyncio.get_running_loop()
        tls = await asyncio.to_thread(address.tls)
        await self.access.sessions.load()
        await self._runner.setup()
        make = cast(Callable[[], asyncio.Protocol], self._runner.server)
        self._connections = Connections(make, seconds=self._idle_seconds)
        try:
            self._listener = await loop.create_server(
                self._connections,
                address.host,
                self._wanted_port,
                backlog=BACKLOG,
                ssl=tls,
                ssl_handshake_timeout=HANDSHAKE_SECONDS if tls else None,
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
        await self.access.sessions.close()
        await self.access.links.close()

    async def _get_about(self, request: web.Request) -> web.Response:
        about = self._about()
        why = model_reason(about.why, language_of(request.headers.get("Accept-Language"), "en"))
        facts = about.model_dump(include={"model", "is_ai", "version"})
        return web.json_response(facts | {"why": why, "has_model": about.has_model})


def _check_paths(public: Sequence[str], guarded: Set[str]) -> None:
    answered, answers = (re.compile("|".join(map(_pattern, each))) for each in (guarded, public))
    hidden = [path for path in guarded if answers.fullmatch(path)]
    if taken := sorted({*hidden, *(path for path in public if answered.fullmatch(path) or public.count(path) > 1)}):
        raise ValueError(f"two routes of the page have the path {', '.join(taken)}")


def _pattern(path: str) -> str:
    """Return the regular expression of the paths that a route answers, in which `{name}` and `{name:.+}` are parts."""
    pieces = _PARAMETER.split(path)
    parameters = [expression or "[^/]+" for expression in pieces[1::2]]
    return "".join(chain.from_iterable(zip_longest(map(re.escape, pieces[::2]), parameters, fillvalue="")))


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    arrival = request.get(ARRIVAL)
    if arrival is not None and arrival.is_public:
        response.headers.setdefault("Strict-Transport-Security", STRICT_TRANSPORT)
    response.headers.pop("Server", None)


@web.middleware
async def _packed(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Compress a page, if the browser brings its token.

    No other site can send that, so none can try out what compresses well beside a secret of the page.
    """
    response = await handler(request)
    if isinstance(response, web.Response) and response.content_type in PACKED and TOKEN in request.headers:
        is_plain = isinstance(response.body, bytes) and "Content-Encoding" not in response.headers
        if is_plain and (response.content_length or 0) >= SMALLEST:
            response.headers.setdefault("Vary", "Accept-Encoding")
            response.enable_compression()
    return response
