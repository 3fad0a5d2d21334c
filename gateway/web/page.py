"""The web page: its channel, its server, and its messages from the store after a reload or restart.

Imported by name, and only if the page is enabled.
"""

import json
from collections.abc import Callable, Collection, Iterable
from functools import partial

from aiohttp.web import RouteDef

from agent_core.clock import Clock
from agent_core.json_text import read_json
from channels.base import (
    ButtonPressed,
    ChatKey,
    CommandInvoked,
    MessageEdited,
    MessageReceived,
    RequestMade,
    ScheduleFired,
    TaskEnded,
)
from channels.web.adapter import WebChannel
from channels.web.conversation import CallDetail, Past, Shown
from channels.web.routes import routes_of
from gateway.security.masking import masked
from gateway.settings.settings import Settings
from gateway.store.browsers import Browser
from gateway.store.reading_place import END, Place
from gateway.store.rows import InboxItem, Post
from gateway.store.store import Store
from gateway.texts.about import About
from gateway.web.access import PageAccess, Rights
from gateway.web.address import Address
from gateway.web.links import LASTS, Links
from gateway.web.operation import OperatorRoutes
from gateway.web.server import HttpServer
from gateway.web.sessions import BrowserSessions

LONGEST_DETAIL = 20_000
"""Characters of a call's arguments or result that the page shows."""
PAGE = 200
"""Stored messages that are read at once."""


async def page_history(store: Store, chat: ChatKey, before: str = "") -> Past:
    """Return the newest messages of a conversation before a place.

    Secrets that became known after the messages were stored are masked as well. Raises ValueError if `before` is no
    place.
    """
    end = _place(before)
    rows = await store.outbox.screen(chat, PAGE, end)
    place = end.before(rows)
    more = f"{place.seq} {place.at!r}" if len(rows) == PAGE else ""
    return Past(masked(shown_on_the_page(rows), store.secrets.mask), more)


async def call_detail(store: Store, chat: ChatKey, message_id: str, call: str) -> CallDetail | None:
    """Return what is stored of a tool call of the run that posted a message of this chat."""
    post = await store.outbox.current(chat, message_id)
    run = await store.run_records.find(post.run, chat) if post is not None else None
    if run is None:
        return None
    calls = (await store.run_records.account(run)).calls
    found = next((each for each in reversed(calls) if each.call == call), None)
    if found is None:
        return None
    detail = CallDetail(
        arguments=_readable(found.arguments),
        result=_cut(found.result or ""),
        error=_cut(found.error or ""),
        ms=found.duration_ms,
        cost=f"{run.cost_usd:.4f}" if run.cost_usd else "",
    )
    return masked(detail, store.secrets.mask)


def _readable(arguments: str) -> str:
    try:
        return _cut(json.dumps(read_json(arguments), ensure_ascii=False, indent=2))
    except ValueError:
        return _cut(arguments)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_DETAIL else f"{text[:LONGEST_DETAIL]}…"


def _place(before: str) -> Place:
    if not before:
        return END
    seq, _, at = before.partition(" ")
    return Place(int(seq), float(at))


def shown_on_the_page(rows: Iterable[tuple[float, InboxItem | Post]]) -> list[Shown]:
    """Convert stored rows to page messages, oldest first.

    An edited message appears once, with its latest text; a removed one not at all.
    """
    messages: dict[str, Shown] = {}
    for at, row in rows:
        if isinstance(row, Post) and row.is_removal:
            messages.pop(row.message_id or "", None)
            continue
        if isinstance(row, InboxItem) and isinstance(row.event, MessageEdited):
            _reword(messages, row.event)
            continue
        message = _shown_post(at, row) if isinstance(row, Post) else _shown_event(row)
        if message is not None:
            earlier = messages.get(message.message_id)
            messages[message.message_id] = message.model_copy(update={"at": earlier.at}) if earlier else message
    return list(messages.values())


def _reword(messages: dict[str, Shown], edit: MessageEdited) -> None:
    if edit.message_id in messages:
        messages[edit.message_id] = messages[edit.message_id].model_copy(update={"markdown": edit.words})


def _shown_post(at: float, post: Post) -> Shown | None:
    if post.message_id is None:
        return None
    return Shown(
        who="parley",
        message_id=post.message_id,
        markdown=post.message.markdown,
        reasoning=post.message.reasoning,
        calls=post.message.calls,
        at=at,
        buttons=post.message.buttons,
        attachments=post.message.attachments,
    )


def _shown_event(item: InboxItem) -> Shown | None:
    event = item.event
    message_id = "" if isinstance(event, RequestMade | ScheduleFired | TaskEnded) else event.message_id
    match event:
        case MessageReceived():
            words, files = event.words, event.attachments
        case CommandInvoked():
            words, files = f"/{event.name} {event.arguments}".strip(), ()
        case ButtonPressed() if not event.action.startswith("/"):
            # Pressing the button said these words; the page gave that message the id of the press.
            words, files, message_id = event.action, (), event.event_id.removeprefix("web:")
        case _:
            return None
    return Shown(who="person", message_id=message_id, markdown=words, at=event.at, attachments=files)


class Entrance:
    """Implements `gateway.commands.page.Entrance`."""

    link_minutes = round(LASTS / 60)

    def __init__(self, server: HttpServer, rights: Rights) -> None:
        self._server = server
        self._access = server.access
        self._rights = rights

    @property
    def port(self) -> int:
        return self._server.port

    @property
    def is_reachable(self) -> bool:
        return bool(self._access.address.url)

    @property
    def browsers(self) -> list[Browser]:
        return self._access.sessions.all

    def link_for(self, principal: str, person: str) -> str:
        self._rights.record(principal, "page link")
        return self._server.link_of(self._access.links.give(principal, person))

    def open_links(self, principal: str) -> list[tuple[str, float]]:
        found = self._access.links.open_for(principal)
        return [(self._server.link_of(each), each.expires) for each in found if each.expires is not None]

    async def sign_out(self, browsers: Collection[Browser], by: str) -> None:
        digests = {each.digest for each in browsers}
        for each in await self._access.sessions.sign_out(lambda one: one.digest in digests):
            self._rights.record(by, "page sign-out", browser=each.name, whose=each.principal)

    async def rename(self, browser: Browser, name: str) -> None:
        await self._access.sessions.rename(browser, name)

    async def reload(self) -> None:
        await self._access.sessions.reload()
        await self._access.links.reload()

    async def sweep(self) -> None:
        await self._access.sweep()


def open_page(
    settings: Settings,
    about: Callable[[], About],
    store: Store,
    clock: Clock,
    *,
    operator: OperatorRoutes,
    rights: Rights,
    routes: Iterable[RouteDef] = (),
) -> tuple[WebChannel, HttpServer, Entrance]:
    """Return the web channel and its HTTP server, neither of them listening yet, and the way into the page.

    `operator` has the routes for an operator's tools and those of plugins, and their scripts; `routes` are those of
    the admin pages. Raises SettingsError.
    """
    web = WebChannel(
        settings.web,
        history=partial(page_history, store),
        listing=store.conversations,
        detail=partial(call_detail, store),
        uploads=settings.home / "uploads",
        now=clock.time,
    )
    access = PageAccess(
        BrowserSessions(store.browsers, clock.time),
        Links(clock.time, store.page_links),
        rights,
        address=Address.of(settings.web),
        now=clock.time,
        link_used=lambda: rights.link_used(server.link),
    )
    server = HttpServer(
        [*routes_of(web), *routes, *operator.guarded_routes()],
        access=access,
        public_routes=operator.routes(),
        scripts=operator.scripts,
        about=about,
        port=settings.web.port,
    )
    return web, server, Entrance(server, rights)
