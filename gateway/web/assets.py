"""The page's own files, compressed once."""

import gzip
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path

from aiohttp import web
from msgspec import Struct

PAGES = Path(__file__).parent / "static"
PRIVATE_FILES = (
    "app.js",
    "commands.js",
    "composer.js",
    "early.js",
    "files.js",
    "inbox.js",
    "list.js",
    "log.js",
    "net.js",
    "notices.js",
    "notify.js",
    "outbox.js",
    "palette.js",
    "pictures.js",
    "press.js",
    "room.js",
    "view.js",
    "words.js",
)
PUBLIC_FILES = (
    "chat.css",
    "design.css",
    "enter.js",
    "icon.svg",
    "icon-192.png",
    "icon-512.png",
    "icon-maskable.png",
    "manifest.webmanifest",
    "offline.html",
    "open.js",
    "style.css",
    "worker.js",
)
"""Files that tell nothing; refused visitors and the page's worker use them without the cookie."""
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml; charset=utf-8",
    ".webmanifest": "application/manifest+json; charset=utf-8",
}
_SMALLEST = 512
"""Bytes from which a file is compressed."""


class Asset(Struct, frozen=True):
    """A file, ready to be sent."""

    plain: bytes
    packed: bytes | None
    kind: str

    def answer(self, request: web.Request) -> web.Response:
        headers = {"Content-Type": self.kind, "Vary": "Accept-Encoding"}
        if self.packed is None or "gzip" not in request.headers.get("Accept-Encoding", ""):
            return web.Response(body=self.plain, headers=headers)
        return web.Response(body=self.packed, headers=headers | {"Content-Encoding": "gzip"})


@cache
def read_asset(path: Path) -> Asset:
    plain = path.read_bytes()
    packed = gzip.compress(plain, mtime=0) if len(plain) >= _SMALLEST else None
    return Asset(plain, packed, _TYPES[path.suffix])


def script_routes(scripts: Mapping[str, Path]) -> Iterator[web.RouteDef]:
    """Yield the routes of scripts by their paths, and of the one with which a page loads each of them.

    One that fails ends none of the others.
    """
    kind = _TYPES[".js"]
    loader = Asset("".join(f'import("{path}");\n' for path in sorted(scripts)).encode(), None, kind)
    for path, asset in (("/scripts.js", loader), *((path, read_asset(file)) for path, file in scripts.items())):
        yield web.get(path, partial(_answered, asset))


async def _answered(asset: Asset, request: web.Request) -> web.Response:
    return asset.answer(request)


def file_route(name: str, path: str = "") -> web.RouteDef:
    """Return the route of one of the page's files, by default under its own name."""
    return web.get(path or f"/{name}", partial(_answered, read_asset(PAGES / name)))
