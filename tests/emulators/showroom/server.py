"""The page's server: the page, the actions of users on it, and a stream of changes."""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from aiohttp import web
from aiohttp.typedefs import Handler
from pydantic import Base64Bytes, BaseModel, ConfigDict, Field, ValidationError

from parley.testing.emulators.control import Changes
from tests.emulators.dialects.exchange import Exchange
from tests.emulators.showroom.exhibit import PEOPLE, Exhibit, NotThere, Said, Upload
from tests.emulators.showroom.nodes import ShownNodes
from tests.process import REPOSITORY

PAGES = Path(__file__).parent / "page"
ICON = REPOSITORY / "gateway" / "web" / "static" / "icon.svg"
FILES = ("app.js", "column.js", "message.js", "markup.js", "style.css")
HOST = re.compile(r"(127\.0\.0\.1|localhost)(:[0-9]{1,5})?", re.ASCII)
MAX_BODY = 32 * 2**20
TOGETHER_SECONDS = 0.03
"""Seconds for which changes are collected before they are sent."""
TICK_SECONDS = 1.0
"""Interval of updates without a change, as typing indicators end by themselves."""
QUIET_TICKS = 15
FOREVER = 1e9
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}

AnyExhibit = Exhibit[Any, Any, Any]
Text = Annotated[str, Field(max_length=40_000)]


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")

    platform: str


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=200)]
    mime: str
    content: Base64Bytes


class _InRoom(_Asked):
    room: str
    person: str


class _Say(_InRoom):
    text: Text
    reply_to: str | None = None
    thread: str | None = None
    file: _File | None = None


class _Press(_InRoom):
    message: str
    label: str
    data: str | None = None


class _Edit(_InRoom):
    message: str
    text: Text


class _Cause(_Asked):
    trouble: str


class _End(BaseModel):
    model_config = ConfigDict(extra="forbid")

    node: str
    runs: bool
    """True to start it, False to kill it."""


@dataclass(frozen=True)
class Invitation:
    """Content of the page for a visitor without a running Parley, or without the emulators."""

    command: str
    again: str
    """The command that starts the emulators."""


class Page:
    """Listens on 127.0.0.1 between `start` and `close`."""

    def __init__(
        self,
        exhibits: Sequence[AnyExhibit],
        models: Exchange,
        invitation: Invitation,
        *,
        port: int,
        nodes: ShownNodes | None = None,
    ) -> None:
        """Port 0 takes any free one. `nodes` are those that visitors can kill."""
        self.url = ""
        self._exhibits = {each.name: each for each in exhibits}
        self._models = models
        self._invitation = invitation
        self._nodes = nodes
        self._port = port
        self._version = 0
        self._news = Changes()
        self._watchers: list[asyncio.Task[None]] = []
        app = web.Application(middlewares=[_guard], client_max_size=MAX_BODY)
        app.on_response_prepare.append(_add_headers)
        app.add_routes(
            [
                _file(PAGES / "index.html", "/"),
                *(_file(PAGES / name) for name in FILES),
                _file(ICON),
                web.get("/api/about", self._about),
                web.get("/api/events", self._events),
                web.get("/api/file", self._download),
                web.post("/api/say", self._say),
                web.post("/api/press", self._press),
                web.post("/api/edit", self._edit),
                web.post("/api/trouble", self._trouble),
                web.post("/api/node", self._node),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)

    async def start(self) -> None:
        """Start listening. Raises OSError if the port is taken."""
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        except OSError:
            await self._runner.cleanup()
            raise
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/"
        self._watchers = [asyncio.create_task(self._watch(each)) for each in self._exhibits.values()]
        if self._nodes is not None:
            self._watchers.append(asyncio.create_task(self._nodes.watch(self._note)))

    async def close(self) -> None:
        for each in self._watchers:
            each.cancel()
        await asyncio.gather(*self._watchers, return_exceptions=True)
        await self._runner.cleanup()

    # Views

    async def _about(self, _: web.Request) -> web.Response:
        platforms = [
            {
                "name": each.name,
                "title": each.title,
                "group": each.group_title,
                "help": each.help,
                "hint": each.hint,
                "troubles": each.troubles.labels,
            }
            for each in self._exhibits.values()
        ]
        models = [{"title": each.name, "name": each.setting} for each in self._models.dialects]
        return web.json_response(
            {"people": PEOPLE, "platforms": platforms, "models": models, **asdict(self._invitation)}
        )

    async def _watch(self, exhibit: AnyExhibit) -> None:
        """Note every change, with a condition that is never true."""

        def note() -> bool:
            self._note()
            return False

        await exhibit.emulator.changes.until(note, FOREVER)

    def _note(self) -> None:
        self._version += 1
        self._news.notify()

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """Stream changes as objects: "slack" for the state of a platform, "slack/group" for a conversation, "nodes" for
        these, "models" for what they have refused."""
        response = web.StreamResponse()
        response.content_type = "text/event-stream"
        await response.prepare(request)
        told: dict[str, str] = {}
        quiet = 0
        while True:
            seen = self._version
            changed = {key: value for key, value in self._sights() if told.get(key) != value}
            told |= changed
            quiet = 0 if changed else quiet + 1
            if changed:
                pairs = ",".join(f"{json.dumps(key)}:{value}" for key, value in changed.items())
                await response.write(f"data: {{{pairs}}}\n\n".encode())
            elif quiet % QUIET_TICKS == 0:
                await response.write(b": still here\n\n")
            with suppress(AssertionError):
                await self._news.until(partial(self._has_news_since, seen), TICK_SECONDS)
            await asyncio.sleep(TOGETHER_SECONDS)

    def _has_news_since(self, version: int) -> bool:
        return self._version != version

    def _sights(self) -> Iterator[tuple[str, str]]:
        if self._nodes is not None:
            yield "nodes", json.dumps([asdict(each) for each in self._nodes.shown()])
        yield "models", json.dumps(self._models.refused)
        for name, exhibit in self._exhibits.items():
            yield name, json.dumps(asdict(exhibit.condition))
            for room in exhibit.rooms:
                yield f"{name}/{room}", json.dumps(asdict(exhibit.show(room)))

    async def _download(self, request: web.Request) -> web.Response:
        asked: Mapping[str, str] = request.query
        index = asked.get("index", "")
        exhibit = self._exhibit(asked.get("platform", ""))
        file = exhibit.file(asked.get("room", ""), asked.get("message", ""), int(index) if index.isdecimal() else -1)
        return web.Response(
            body=file.content,
            content_type="application/octet-stream" if not _is_picture(file) else file.mime,
            headers={"Content-Disposition": "inline" if _is_picture(file) else "attachment"},
        )

    # Actions

    async def _say(self, request: web.Request) -> web.Response:
        asked = _Say.model_validate(await request.json())
        if not asked.text.strip() and asked.file is None:
            raise web.HTTPBadRequest(text="there is nothing to say")
        file = None if asked.file is None else Upload(asked.file.name, asked.file.mime, asked.file.content)
        said = Said(asked.text, asked.reply_to, asked.thread, file)
        await self._exhibit(asked.platform).say(asked.room, asked.person, said)
        return web.Response(status=204)

    async def _press(self, request: web.Request) -> web.Response:
        asked = _Press.model_validate(await request.json())
        exhibit = self._exhibit(asked.platform)
        await exhibit.press(asked.room, asked.person, asked.message, asked.label, asked.data)
        return web.Response(status=204)

    async def _edit(self, request: web.Request) -> web.Response:
        asked = _Edit.model_validate(await request.json())
        await self._exhibit(asked.platform).edit(asked.room, asked.person, asked.message, asked.text)
        return web.Response(status=204)

    async def _trouble(self, request: web.Request) -> web.Response:
        asked = _Cause.model_validate(await request.json())
        exhibit = self._exhibit(asked.platform)
        if asked.trouble not in exhibit.troubles.labels:
            raise NotThere(f"no trouble {asked.trouble}")
        exhibit.troubles.cause(asked.trouble)
        return web.Response(status=204)

    async def _node(self, request: web.Request) -> web.Response:
        asked = _End.model_validate(await request.json())
        if self._nodes is None or asked.node not in self._nodes.nodes.programs:
            raise NotThere(f"no node {asked.node}")
        await (self._nodes.nodes.start if asked.runs else self._nodes.nodes.kill)(asked.node)
        self._note()
        return web.Response(status=204)

    def _exhibit(self, name: str) -> AnyExhibit:
        if name not in self._exhibits:
            raise NotThere(f"no platform {name}")
        return self._exhibits[name]


def _is_picture(file: Upload) -> bool:
    return file.mime in ("image/png", "image/jpeg", "image/gif", "image/webp")


@web.middleware
async def _guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse requests of other web sites and of names that resolve to this machine."""
    host, origin = request.headers.get("Host", ""), request.headers.get("Origin")
    if not HOST.fullmatch(host) or origin not in (None, f"http://{host}"):
        return web.Response(status=403, text="this page answers only to itself")
    if request.method == "POST" and request.content_type != "application/json":
        return web.Response(status=415, text="JSON only")
    try:
        return await handler(request)
    except NotThere as error:
        return web.Response(status=404, text=str(error))
    except (ValidationError, json.JSONDecodeError) as error:
        return web.Response(status=400, text=str(error))


async def _add_headers(_: web.Request, response: web.StreamResponse) -> None:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)


def _file(file: Path, path: str = "") -> web.RouteDef:
    async def serve(_: web.Request) -> web.FileResponse:
        return web.FileResponse(file)

    return web.get(path or f"/{file.name}", serve)
