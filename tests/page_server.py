"""The web page without a gateway: a real server and a real channel, with an inbox for tests."""

import asyncio
import json
import re
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, CookieJar, FormData

from channels.base import Accepted, ChatKey, InboundEvent, Menu, OutboundMessage, RequestMade
from channels.commands import CommandSpec
from channels.web.adapter import WebChannel
from channels.web.config import Config
from channels.web.conversation import EventRing, Shown
from gateway.texts.about import About
from gateway.web.server import HttpServer

COMMANDS = (
    CommandSpec(name="status", description={"en": "status", "zh": "状态"}),
    CommandSpec(
        name="remind", description={"en": "remind", "zh": "提醒"}, arguments="TIME TEXT", usage={"zh": "时间 内容"}
    ),
)
DEMO = About(model="demo", why="no key found and no local server", demo=True, version="0.1.0")


@dataclass
class Page:
    """The backend of the page: received events, and stored messages."""

    home: Path
    about: About = DEMO
    stored: list[Shown] = field(default_factory=list)
    heard: list[InboundEvent] = field(default_factory=list)
    answer: Callable[[InboundEvent], Awaitable[Accepted]] | None = None
    permits: bool = True
    """False if its user may not speak."""
    max_upload: int = 50 * 1024 * 1024
    port: int = 0
    ring: EventRing = field(default_factory=EventRing)
    idle_seconds: float = 20.0
    links: list[str] = field(default_factory=list)
    """Links printed after the first."""

    def __post_init__(self) -> None:
        self._arrived = asyncio.Event()
        self.channel = WebChannel(
            Config(max_upload=self.max_upload), history=self._history, uploads=self.home / "uploads", ring=self.ring
        )
        self.server = HttpServer(
            self.channel.routes(),
            about=lambda: self.about,
            home=self.home,
            port=self.port,
            link_changed=self.links.append,
            idle_seconds=self.idle_seconds,
        )

    async def _history(self, _: ChatKey) -> Sequence[Shown]:
        return self.stored

    async def inbox(self, event: InboundEvent) -> Accepted:
        """Accept each event once, as the store does."""
        if isinstance(event, RequestMade):
            return Accepted.PERMITTED if self.permits else Accepted.REFUSED
        if event.event_id in {each.event_id for each in self.heard}:
            return Accepted.DUPLICATE
        self.heard.append(event)
        self._arrived.set()
        return await self.answer(event) if self.answer else Accepted.NEW

    async def has_heard(self) -> InboundEvent:
        """Wait for the first event and return it."""
        async with asyncio.timeout(30):
            await self._arrived.wait()
        return self.heard[0]

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Page"]:
        await self.server.start()
        running = asyncio.create_task(self.channel.run(self.inbox, Menu(COMMANDS)))
        try:
            yield self
        finally:
            running.cancel()
            await asyncio.wait([running])
            await self.channel.close()
            await self.server.close()

    @asynccontextmanager
    async def browser(self) -> AsyncIterator[ClientSession]:
        """Yield a client that is logged in."""
        client = ClientSession(self.server.url, cookie_jar=CookieJar(unsafe=True))
        async with client, client.get(self.server.link):
            yield client


@dataclass
class Screen:
    """Content of a tab, built as the page does."""

    html: dict[str, str] = field(default_factory=dict)
    revisions: dict[str, int] = field(default_factory=dict)
    last: str = ""
    kinds: list[str] = field(default_factory=list)

    def take(self, event: Mapping[str, Any]) -> None:
        self.kinds.append(event["type"])
        if event["type"] == "message":
            self.html[event["id"]], self.revisions[event["id"]] = event["html"], event["revision"]
        elif event["type"] == "delete":
            del self.html[event["id"]]
        elif event["type"] == "edit":
            assert event["revision"] == self.revisions[event["id"]] + 1
            self.revisions[event["id"]] += 1
            units = self.html[event["id"]].encode("utf-16-le")[: 2 * event["keep"]]
            self.html[event["id"]] = units.decode("utf-16-le") + event["add"]


@asynccontextmanager
async def tab(client: ClientSession, after: str, *, header: bool = False) -> AsyncIterator["Tab"]:
    """Open a stream of the events after the named one, by the query parameter or by the header that browsers send."""
    headers = {"Last-Event-ID": after} if header else {}
    async with client.get("/api/events", params={} if header else {"after": after}, headers=headers) as stream:
        yield Tab(stream.content, Screen(last=after))


@dataclass
class Tab:
    """An open stream; `until` reads on until the screen satisfies a condition."""

    content: Any
    screen: Screen
    comments: int = 0

    async def until(self, true: Callable[[Screen], bool], within: float = 30.0) -> Screen:
        async with asyncio.timeout(within):
            while not true(self.screen):
                await self.read_line()
        return self.screen

    async def read_line(self) -> bytes:
        line: bytes = await self.content.readline()
        if line.startswith(b"id: "):
            self.screen.last = line[4:].decode().strip()
        elif line.startswith(b"data: "):
            self.screen.take(json.loads(line[6:]))
        elif line.startswith(b":"):
            self.comments += 1
        return line


def words_of(html: str) -> str:
    return re.sub(r"<[^>]+>", "", html).strip()


def text(markdown: str) -> OutboundMessage:
    return OutboundMessage(markdown=markdown)


def fresh() -> str:
    return str(uuid.uuid4())


async def say(client: ClientSession, words: str, *, key: str = "", files: list[str] | None = None) -> str:
    body = {"id": key or fresh(), "text": words, "files": files or []}
    async with client.post("/api/messages", json=body) as answer:
        assert answer.status == 200, await answer.text()
        return str((await answer.json())["accepted"])


async def history(client: ClientSession) -> dict[str, Any]:
    async with client.get("/api/history") as answer:
        read: dict[str, Any] = await answer.json()
        return read


async def upload(client: ClientSession, files: Mapping[str, bytes]) -> tuple[int, Any]:
    form = FormData(quote_fields=False)
    for name, content in files.items():
        form.add_field("file", BytesIO(content), filename=name)
    async with client.post("/api/files", data=form) as answer:
        body = await answer.json() if answer.status == 200 else await answer.text()
        return answer.status, body


def files_in(home: Path) -> list[Path]:
    return [each for each in home.rglob("*") if each.is_file() and each.name != "page.key"]
