"""One HTTP server for everything: the page, what channels bring along, and whether we are well.

It listens on loopback only. Routes are private, behind the page's cookie, unless they are handed in as public; those
check their callers themselves, as a platform's signed web hooks do.
"""

import errno
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import structlog
from aiohttp import web

from gateway.about import About
from gateway.errors import ParleyError
from gateway.http_access import PageAccess, read_secret

HOST = "127.0.0.1"
PAGES = Path(__file__).parent / "pages"
PRIVATE_FILES = ("app.js", "files.js", "log.js", "outbox.js", "words.js")
PUBLIC_FILES = ("style.css", "icon.svg")
"""What the page for refused visitors needs."""
MAX_BODY = 4 * 1024 * 1024
"""Bytes of a request that is read as a whole; files are streamed and have a limit of their own."""

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

log = structlog.get_logger(__name__)


class PortBusy(ParleyError):
    """Another program listens on the port."""

    def __init__(self, port: int) -> None:
        super().__init__(
            f"port {port} is taken by another program, perhaps another Parley: stop it, or choose another port "
            f"with PARLEY_WEB_PORT={port + 1}"
        )
        self.port = port


class HttpServer:
    """`start` listens, `close` stops; streams that are still open then are cut after two seconds."""

    def __init__(
        self,
        routes: Iterable[web.RouteDef],
        *,
        public_routes: Iterable[web.RouteDef] = (),
        about: Callable[[], About],
        home: Path,
        port: int,
    ) -> None:
        """`home` keeps the key that signs the page's sessions; port 0 takes any that is free."""
        self._about = about
        self._wanted_port = port
        self._port = port
        public = [web.get("/healthz", _healthz), *map(_file, PUBLIC_FILES), *public_routes]
        self._access = PageAccess(
            read_secret(home / "page.key"),
            public=[route.path for route in public],
            refused=(PAGES / "refused.html").read_text(encoding="utf-8"),
        )
        app = web.Application(middlewares=[self._access.middleware()], client_max_size=MAX_BODY)
        app.on_response_prepare.append(_add_headers)
        own = [_file("index.html", "/"), *map(_file, PRIVATE_FILES), web.get("/api/about", self._get_about)]
        app.add_routes([*public, *own, *routes])
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=2.0)

    @property
    def port(self) -> int:
        """The one that it listens on."""
        return self._port

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._port}/"

    @property
    def link(self) -> str:
        """What a person opens first; it lets one browser in, once."""
        return f"{self.url}?token={self._access.token}" if self._access.token else self.url

    async def start(self) -> None:
        """Raises PortBusy, or ParleyError where the system does not let us have the port."""
        await self._runner.setup()
        site = web.TCPSite(self._runner, HOST, self._wanted_port)
        try:
            await site.start()
        except OSError as error:
            await self._runner.cleanup()
            if error.errno == errno.EADDRINUSE:
                raise PortBusy(self._wanted_port) from error
            raise ParleyError(
                f"port {self._wanted_port} cannot be used ({os.strerror(error.errno or 0)}): choose another port with "
                "PARLEY_WEB_PORT, 1024 or higher"
            ) from error
        self._port = self._runner.addresses[0][1]
        log.debug("http_listening", port=self._port)  # the link is printed

    async def close(self) -> None:
        await self._runner.cleanup()

    async def _get_about(self, _: web.Request) -> web.Response:
        return web.json_response(self._about().model_dump(include={"model", "why", "demo", "version"}))


def _file(name: str, path: str = "") -> web.RouteDef:
    async def serve(_: web.Request) -> web.FileResponse:
        return web.FileResponse(PAGES / name)

    return web.get(path or f"/{name}", serve)


async def _healthz(_: web.Request) -> web.Response:
    return web.Response(text="ok")


async def _add_headers(_: web.Request, response: web.StreamResponse) -> None:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.pop("Server", None)
