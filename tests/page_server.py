"""The web page without a gateway: a real server and a real channel, with an inbox for tests."""

import asyncio
import json
import re
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, FormData

from channels.base import Accepted, ChatKey, InboundEvent, Menu, OutboundMessage, RequestMade, Sender
from channels.commands import CommandSpec, Suggestion, Typed
from channels.web.adapter import CHAT, WebChannel
from channels.web.config import Config
from channels.web.conversation import CallDetail, EventRing, Past, Shown
from channels.web.listing import Entries, Entry, Hit, Listing
from channels.web.rooms import Rooms
from channels.web.routes import routes_of
from gateway.texts.about import About
from gateway.web.address import Address
from gateway.web.server import HttpServer
from tests.entering import FOLDER, Guests, opened_store, page_server, signed_in

COMMANDS = (
    CommandSpec(name="status", description={"en": "status", "zh": "状态"}),
    CommandSpec(
        name="remind", description={"en": "remind", "zh": "提醒"}, arguments="TIME TEXT", usage={"zh": "时间 内容"}
    ),
)
PLAYED = About(model="played", why="no key found and no local server", is_ai=False, version="0.1.0")


@dataclass
class Page:
    """The backend of the page: received events, and stored messages."""

    home: Path
    about: About = PLAYED
    stored: list[Shown] = field(default_factory=list)
    heard: list[InboundEvent] = field(default_factory=list)
    answer: Callable[[InboundEvent], Awaitable[Accepted]] | None = None
    permits: bool = True
    """False if its user may not speak."""
    max_upload: int = 50 * 1024 * 1024
    port: int = 0
    rooms: Rooms = field(default_factory=Rooms)
    listing: Listing | None = None
    """The stored list of conversations; None for one in memory."""
    idle_seconds: float = 20.0
    details: dict[tuple[str, str], CallDetail] = field(default_factory=dict)
    """What is stored of tool calls, by message and call."""
    page: int = 200
    """Stored messages read at once."""
    suggest: Callable[[ChatKey, Sender, Typed], Awaitable[Sequence[Suggestion]]] | None = None
    guests: Guests = field(default_factory=Guests)
    address: Address = field(default_factory=Address)
    now: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        self._arrived = asyncio.Event()
        self._server: HttpServer | None = None
        self.channel = WebChannel(
            Config(max_upload=self.max_upload),
            history=self._history,
            listing=self.listing or MemoryListing(),
            detail=self._detail,
            uploads=self.home / "uploads",
            rooms=self.rooms,
        )

    @property
    def server(self) -> HttpServer:
        """The server, while the page is open."""
        assert self._server is not None, "the page is closed"
        return self._server

    async def _detail(self, _: ChatKey, message_id: str, call: str) -> CallDetail | None:
        return self.details.get((message_id, call))

    async def _history(self, _: ChatKey, before: str) -> Past:
        """Return the stored messages; a place is the number of messages before it."""
        end = int(before) if before else len(self.stored)
        start = max(0, end - self.page)
        return Past(self.stored[start:end], str(start) if start else "")

    @property
    def ring(self) -> EventRing:
        """The events of the first conversation."""
        return self.rooms.of(CHAT).ring

    async def inbox(self, event: InboundEvent) -> Accepted:
        """Accept each event once, as the store does."""
        if isinstance(event, RequestMade):
            return Accepted.PERMITTED if self.permits else Accepted.REFUSED
        if event.event_id in {each.event_id for each in self.heard}:
            return Accepted.DUPLICATE
        self.heard.append(event)
        self._arrived.set()
        return await self.answer(event) if self.answer else Accepted.NEW

    @property
    def _menu(self) -> Menu:
        return Menu(COMMANDS, self.suggest) if self.suggest else Menu(COMMANDS)

    async def has_heard(self) -> InboundEvent:
        """Wait for the first event and return it."""
        async with asyncio.timeout(30):
            await self._arrived.wait()
        return self.heard[0]

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["Page"]:
        """Serve the page while nobody listens yet."""
        async with opened_store(self.home) as store:
            how = {"about": lambda: self.about, "port": self.port, "idle_seconds": self.idle_seconds}
            guests, address, routes = self.guests, self.address, routes_of(self.channel)
            self._server = page_server(store, routes, guests=guests, address=address, now=self.now, **how)
            await self.server.start()
            try:
                yield self
            finally:
                await self.channel.close()
                await self.server.close()

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Page"]:
        async with self.serving():
            running = asyncio.create_task(self.channel.run(self.inbox, self._menu))
            try:
                yield self
            finally:
                running.cancel()
                await asyncio.wait([running])

    @asynccontextmanager
    async def browser(self) -> AsyncIterator[ClientSession]:
        """Yield a client that is logged in."""
        async with signed_in(self.server) as client:
            yield client


async def no_detail(_: ChatKey, __: str, ___: str) -> None:
    """Know nothing of any tool call."""


class MemoryListing:
    """A list of conversations without a database."""

    def __init__(self) -> None:
        self.entries: dict[ChatKey, Entry] = {}
        self.deleted: set[ChatKey] = set()

    async def of(self, owner: ChatKey, after: str = "", most: int = 50) -> Entries:
        start = int(after or 0)
        found = [each for each in self.entries.values() if each.chat not in self.deleted and _is_of(each.chat, owner)]
        found.sort(key=lambda each: (each.is_pinned, each.last), reverse=True)
        more = str(start + most) if len(found) > start + most else ""
        return Entries(entries=tuple(found[start : start + most]), more=more)

    async def find(self, owner: ChatKey, words: str) -> Sequence[Hit]:
        page = await self.of(owner, most=len(self.entries))
        return [Hit(entry=each, words="") for each in page.entries if words.lower() in each.title.lower()]

    def heard(self, chat: ChatKey, words: str, at: float) -> None:
        self.deleted.discard(chat)
        known = self.entries.get(chat) or Entry(chat=chat, title=words[:80], last=at)
        self.entries[chat] = known.model_copy(update={"last": at, "title": known.title or words[:80]})

    def answered(self, chat: ChatKey, at: float) -> None:
        known = self.entries.get(chat) or Entry(chat=chat, title="", last=at)
        self.entries[chat] = known.model_copy(update={"last": at, "is_unread": True})

    async def rename(self, chat: ChatKey, title: str) -> str:
        self._change(chat, title=title)
        return title

    async def pin(self, chat: ChatKey, *, pinned: bool) -> None:
        self._change(chat, is_pinned=pinned)

    async def see(self, chat: ChatKey) -> None:
        self._change(chat, is_unread=False)

    async def delete(self, chat: ChatKey, *, deleted: bool) -> None:
        (self.deleted.add if deleted else self.deleted.discard)(chat)

    def _change(self, chat: ChatKey, **values: object) -> None:
        if chat in self.entries:
            self.entries[chat] = self.entries[chat].model_copy(update=values)


def _is_of(chat: ChatKey, owner: ChatKey) -> bool:
    return chat.model_copy(update={"thread": None}) == owner


@dataclass
class Screen:
    """Content of a tab, built as the page does."""

    html: dict[str, str] = field(default_factory=dict)
    revisions: dict[str, int] = field(default_factory=dict)
    last: str = ""
    kinds: list[str] = field(default_factory=list)
    listed: list[dict[str, Any]] = field(default_factory=list)
    """Changes of the list of conversations."""

    def take(self, event: Mapping[str, Any]) -> None:
        if event["type"] == "listed":  # about the list, not about this conversation
            self.listed.append(dict(event))
            return
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
async def tab(
    client: ClientSession, after: str, *, header: bool = False, conversation: str = "main"
) -> AsyncIterator["Tab"]:
    """Open a stream of the events after the named one, by the query parameter or by the header that browsers send."""
    headers = {"Last-Event-ID": after} if header else {}
    where = {"conversation": conversation} | ({} if header else {"after": after})
    async with client.get("/api/events", params=where, headers=headers) as stream:
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


async def say(
    client: ClientSession, words: str, *, key: str = "", files: list[str] | None = None, conversation: str = "main"
) -> str:
    body = {"conversation": conversation, "id": key or fresh(), "text": words, "files": files or []}
    async with client.post("/api/messages", json=body) as answer:
        assert answer.status == 200, await answer.text()
        return str((await answer.json())["accepted"])


async def history(client: ClientSession, conversation: str = "main", before: str = "") -> dict[str, Any]:
    where = {"conversation": conversation, "before": before}
    async with client.get("/api/history", params=where) as answer:
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
    return [each for each in home.rglob("*") if each.is_file() and FOLDER not in each.parts]
