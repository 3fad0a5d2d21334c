"""Serves the admin pages: screens, the actions on them, and their files."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from time import time
from typing import TypeVar
from uuid import uuid4
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from aiohttp import web

from channels.base import Accepted, Button, ChatKey, OutboundMessage, RequestMade
from channels.web.entrance import ZONE_HEADER
from channels.web.requests import visitor_of
from gateway.admin.action_form import LONGEST_LINE, Form
from gateway.admin.chosen_rows import MOST_ROWS, Replies, parted
from gateway.admin.desk import CommandRefused, Desk
from gateway.admin.navigation import Navigation, navigation
from gateway.admin.screen import ChecksFields, NoSuchItem, TakesForms, View, Visit
from gateway.admin.watch import ScreenFailed, watched
from gateway.chat.replies import Answer, Once, Quoting, Rewritten, Unfolded
from gateway.texts.say import language_of
from gateway.web.assets import read_asset

T = TypeVar("T")
ROOT = "/admin"
STATIC = Path(__file__).parent / "static"
FILES = (
    "admin.css",
    "admin.js",
    "charts.js",
    "check.js",
    "choose.js",
    "hold.js",
    "htmx.min.js",
    "keep.js",
    "live.js",
    "log.js",
    "tables.js",
    "times.js",
    "uplot.min.css",
    "uplot.min.js",
)
LOOK_EVERY = 1.5
"""Seconds between two looks if something has changed of which a script waits to hear."""
MOST_LOOKS = 15
"""Looks after which it is told that nothing has."""
NOWHERE = View("nowhere.html", {})
"""The page for an address that names nothing."""


class AdminPages:
    """The routes of the admin pages. They answer while a desk is open, which is as long as the gateway runs."""

    def __init__(self) -> None:
        self._make: Callable[[], Desk] | None = None
        self._desk: Desk | None = None
        """Made at the first visit."""

    @contextmanager
    def open(self, make: Callable[[], Desk]) -> Iterator[None]:
        """Show a running gateway while the context is open."""
        before = self._make, self._desk
        self._make, self._desk = make, None
        try:
            yield
        finally:
            self._make, self._desk = before

    def routes(self) -> list[web.RouteDef]:
        """Return the routes for a server, to be mounted behind its access control."""
        return [
            *(_file(name) for name in FILES),
            web.get(ROOT, self._first),
            web.get(f"{ROOT}/", self._first),
            web.post(f"{ROOT}/act", self._act),
            web.post(f"{ROOT}/each", self._each),
            web.post(f"{ROOT}/form/{{screen}}/{{item}}", self._submit),
            web.post(f"{ROOT}/check/{{screen}}/{{item}}", self._check),
            web.get(f"{ROOT}/api/{{name}}", self._feed),
            web.get(f"{ROOT}/{{screen}}", self._show),
            web.get(f"{ROOT}/{{screen}}/{{item:.+}}", self._show),
        ]

    async def _first(self, _: web.Request) -> web.StreamResponse:
        return web.Response(status=303, headers={"Location": f"{ROOT}/{self._open_desk().screens[0].name}"})

    async def _show(self, request: web.Request) -> web.StreamResponse:
        desk = self._open_desk()
        visit = await self._visit(request, desk)
        screen = desk.screen(request.match_info["screen"])
        name = screen.name if screen else "nowhere"
        found, status = await _navigation(desk), 200
        try:
            async with _watched(desk, name):
                view = await screen.view(visit) if screen is not None else NOWHERE
                page = desk.templates.page(visit, view, screen=name, navigation=found)
                status = 404 if view is NOWHERE else 200
        except NoSuchItem:
            page, status = desk.templates.page(visit, NOWHERE, screen=name, navigation=found), 404
        except ScreenFailed as error:
            failed = View("failed.html", {"code": error.code})
            page, status = desk.templates.page(visit, failed, screen=name, navigation=found), 500
        return web.Response(text=page, content_type="text/html", status=status)

    async def _feed(self, request: web.Request) -> web.StreamResponse:
        """Answer with what a script asks for; if it knows the present version, once there is another one."""
        desk, known, looks = self._open_desk(), request.query.get("known"), 0
        while True:
            visit = await self._visit(request, desk)  # the right to see it may end meanwhile
            feed = desk.feeds.get(request.match_info["name"])
            if feed is None:
                raise web.HTTPNotFound(text=visit.say("page_not_found"))
            found, looks = await feed(visit), looks + 1
            if known is None or found.get("version") != known or looks == MOST_LOOKS or self._desk is not desk:
                return web.json_response(found, headers={"Cache-Control": "no-store"})
            await asyncio.sleep(LOOK_EVERY)

    async def _act(self, request: web.Request) -> web.StreamResponse:
        """Run the command of a form, and return its reply as a part of the page."""
        desk = self._open_desk()
        visit = await self._visit(request, desk)
        form = Form()
        try:
            await form.read(request, desk.uploads)
            chat = _chat(form.fields.get("chat", ""), visit)
            message = _shown(await desk.run(visit.sender, chat, form.line, form.files))
        except CommandRefused as refused:
            return _refused(desk, visit, refused)
        finally:
            for each in form.files:
                await desk.uploads.delete(each.reference)
        label = form.fields.get("label", "")
        facts = {"message": message, "rows": _rows(message), "chat": str(chat), "label": label}
        text = desk.templates.part(visit, "_answer.html", facts)
        return web.Response(text=text, content_type="text/html", headers={"HX-Trigger": "changed"})

    async def _each(self, request: web.Request) -> web.StreamResponse:
        """Run the command of a form for each chosen row, and return the replies as a part of the page."""
        desk = self._open_desk()
        visit = await self._visit(request, desk)
        posted = await request.post()
        rows = [str(each) for each in posted.getall("row", ())]
        if not 0 < len(rows) <= MOST_ROWS:
            return _refused(desk, visit, CommandRefused("page_too_many_rows" if rows else "page_no_rows"))
        replies = Replies()
        for printed, line in (parted(row, str(posted.get("command", ""))) for row in rows):
            try:
                replies.add(printed, await _ran(desk, visit, printed, line))
            except CommandRefused as refused:
                replies.refuse(visit.say(str(refused)))
        text = desk.templates.part(visit, "_answers.html", {"replies": replies})
        return web.Response(text=text, content_type="text/html", headers={"HX-Trigger": "changed"})

    async def _submit(self, request: web.Request) -> web.StreamResponse:
        """Pass a form to its screen, whose content is loaded anew afterwards unless it names another address."""
        desk = self._open_desk()
        visit = await self._visit(request, desk)
        screen = desk.screen(request.match_info["screen"])
        if not isinstance(screen, TakesForms):
            raise web.HTTPNotFound(text=visit.say("page_not_found"))
        there = await self._passed(desk, visit, screen.name, screen.submit(visit, await _fields(request)))
        headers = {"HX-Redirect": there} if there else {"HX-Trigger": "changed"}
        return web.Response(text="", content_type="text/html", headers=headers)

    async def _check(self, request: web.Request) -> web.StreamResponse:
        """Answer with what is wrong with a field of a form, as JSON."""
        desk = self._open_desk()
        visit = await self._visit(request, desk)
        screen = desk.screen(request.match_info["screen"])
        if not isinstance(screen, ChecksFields):
            raise web.HTTPNotFound(text=visit.say("page_not_found"))
        name = request.match_info["screen"]
        trouble = await self._passed(desk, visit, name, screen.check(visit, await _fields(request)))
        return web.json_response({"trouble": trouble})

    async def _passed(self, desk: Desk, visit: Visit, screen: str, work: Awaitable[T]) -> T:
        """Return what a screen returns for a form. Raises web.HTTPException with a sentence."""
        try:
            async with _watched(desk, screen):
                return await work
        except NoSuchItem as error:
            raise web.HTTPNotFound(text=visit.say("page_not_found")) from error
        except ScreenFailed as error:
            raise web.HTTPInternalServerError(text=visit.say("page_failed", code=error.code)) from error

    async def _visit(self, request: web.Request, desk: Desk) -> Visit:
        """Return the visit, if the person may use these pages. Raises web.HTTPForbidden."""
        visitor, tag = visitor_of(request), request.headers.get("Accept-Language", "").split(",")[0]
        language = language_of(tag.partition(";")[0].strip(), desk.language)
        sender, at = visitor.sender(desk.person, language), time()
        asked = RequestMade(event_id=f"web:admin:{uuid4()}", chat=visitor.chat(), sender=sender, at=at, what="page")
        role = desk.access.role(visitor.chat(), sender)
        if await desk.permit(asked) is not Accepted.PERMITTED or role is None:
            raise web.HTTPForbidden(text="you may not use these pages")
        item = request.match_info.get("item", "")
        zone = _zone(request.headers.get(ZONE_HEADER, ""))
        visit = Visit(visitor, sender, role, language, item, dict(request.query), request.path_qs, zone)
        if not desk.access.is_admin(visitor.chat(), sender):
            raise web.HTTPForbidden(text=visit.say("page_admins_only"))
        return visit

    def _open_desk(self) -> Desk:
        if self._make is None:
            raise web.HTTPServiceUnavailable(text="Parley is starting or ending", headers={"Retry-After": "1"})
        if self._desk is None:
            self._desk = self._make()
        return self._desk


def _watched(desk: Desk, screen: str) -> AbstractAsyncContextManager[None]:
    return watched(screen, desk.suppliers.get(screen), desk.failures)


async def _navigation(desk: Desk) -> Navigation:
    return navigation(desk.screens, {each.name: await _waiting(desk, each.name) for each in desk.screens})


async def _waiting(desk: Desk, screen: str) -> int:
    """Count what waits on a screen; nothing does on one that fails."""
    badge = desk.badges.get(screen)
    if badge is None:
        return 0
    try:
        async with _watched(desk, screen):
            return int(await badge())
    except ScreenFailed:
        return 0


async def _fields(request: web.Request) -> dict[str, str]:
    posted = await request.post()
    return {name: value for name, value in posted.items() if isinstance(value, str)}


def _zone(name: str) -> ZoneInfo | None:
    """Return the zone that a browser names; None if it is none that is known here."""
    try:
        return ZoneInfo(name) if name else None
    except (ValueError, OSError, ZoneInfoNotFoundError):  # ValueError: a path outside the folder of zones
        return None


async def _ran(desk: Desk, visit: Visit, chat: str, line: str) -> OutboundMessage | None:
    """Run a command line in a chat, and return its reply. Raises CommandRefused."""
    if len(line) > LONGEST_LINE:
        raise CommandRefused("page_too_long")
    return _shown(await desk.run(visit.sender, _chat(chat, visit), line, ()))


def _refused(desk: Desk, visit: Visit, why: CommandRefused) -> web.Response:
    text = desk.templates.part(visit, "_refused.html", {"text": visit.say(str(why))})
    return web.Response(text=text, content_type="text/html")


def _chat(printed: str, visit: Visit) -> ChatKey:
    """Return the chat of an action: the named one, or the visitor's own. Raises CommandRefused."""
    try:
        return ChatKey.parse(printed) if printed else visit.chat
    except ValueError as error:
        raise CommandRefused("page_not_found") from error


def _shown(answer: Answer) -> OutboundMessage | None:
    answer = answer.reply if isinstance(answer, Quoting) else answer
    if isinstance(answer, Rewritten | Unfolded | Once):
        return answer.message
    return answer if isinstance(answer, OutboundMessage) else None


def _rows(message: OutboundMessage | None) -> list[list[Button]]:
    """Return the buttons of a reply that are commands; others would say words in the chat."""
    rows = message.buttons if message else ()
    return [[button for button in row if button.action.startswith("/")] for row in rows]


def _file(name: str) -> web.RouteDef:
    async def serve(request: web.Request) -> web.Response:
        return (await asyncio.to_thread(read_asset, STATIC / name)).answer(request)

    return web.get(f"{ROOT}/static/{name}", serve)
