"""Restricts the page to browsers that signed in with a one-time link, of people who are owners or admins.

Loopback is no authentication: every program and web page on the machine can reach it. So a request needs a cookie that
only a link gives, a name of ours as its host (which a DNS name pointed at this machine lacks), our origin if it names
one, and for each change a token that other sites cannot know.
"""

import asyncio
import hmac
from collections.abc import Callable, Collection
from typing import Protocol

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from channels.web.requests import let_in
from channels.web.visitor import Visitor
from gateway.security.log_throttle import LogThrottle
from gateway.store.browsers import Browser
from gateway.web.address import ARRIVAL, Address, Arrival, ForeignHost
from gateway.web.links import Link, Links, WrongTries
from gateway.web.sessions import UNUSED_SECONDS, BrowserSessions, TooManyRequests, csrf_of
from gateway.web.sign_in import SIGN_IN, Pages

CSRF_HEADER = "X-Parley-Token"
CSRF_FIELD = "csrf"
SAFE = ("GET", "HEAD", "OPTIONS")
BODY_SECONDS = 20.0
"""Time in which the body of a change has to arrive. Files are not read here; they may take longer."""
MOST_FORM = 4_096
"""Bytes of the form that signs in."""
UNKNOWN = "web:unknown"
"""Principal in audit entries about browsers that are not signed in."""

log = structlog.get_logger(__name__)


class Rights(Protocol):
    """The running gateway's word on who may use the page, and its record of who did."""

    def link_used(self, link: str) -> None:
        """Tell the console the next link, since the last one was used."""

    @property
    def are_known(self) -> bool:
        """False until the gateway runs: then only the person at this machine may use the page."""

    def may_enter(self, visitor: Visitor) -> bool:
        """Return True if the person may use the page now."""

    def record(self, principal: str, what: str, **facts: str) -> None:
        """Write an audit entry."""


class PageAccess:
    """Signs browsers in, and lets in the requests of those that are."""

    def __init__(
        self,
        sessions: BrowserSessions,
        links: Links,
        rights: Rights,
        *,
        address: Address,
        now: Callable[[], float],
        link_used: Callable[[], None] = lambda: None,
    ) -> None:
        """`link_used` is called when the console's link was used."""
        self.sessions = sessions
        self.links = links
        self.address = address
        self._rights = rights
        self._link_used = link_used
        self._wrong = WrongTries(now)
        self._pages = Pages()
        self._refusals = LogThrottle()
        self._wrong_links = LogThrottle(every=1.0)

    def middleware(self, public: Collection[str], admitted: Callable[[web.Request], None]) -> Middleware:
        """Return the check for all routes but those that are public.

        `admitted` is called with each request of a browser that is signed in.
        """
        open_routes = frozenset(public)

        @web.middleware
        async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
            resource = request.match_info.route.resource
            if resource is not None and resource.canonical in open_routes:
                return await handler(request)
            try:
                arrival = request[ARRIVAL] = self._arrival(request)
            except ForeignHost as error:
                return self._foreign(request, str(error))
            if request.path == SIGN_IN and request.method == "POST":
                return await self._sign_in(request, arrival)
            if request.path == "/" and request.method in SAFE and "token" in request.query:
                return self._offer(request, arrival)
            return await self._admit(request, handler, arrival, admitted)

        return check

    async def sweep(self) -> None:
        """Sign out the browsers, and close the links, of people who may no longer use the page."""
        out = await self.sessions.sign_out(lambda each: not self._rights.may_enter(_visitor(each)))
        for each in out:
            self._rights.record(each.principal, "page sign-out", browser=each.name, reason="role")
        self.links.drop(lambda link: not self._rights.may_enter(Visitor(link.principal, link.person)))

    async def _admit(
        self, request: web.Request, handler: Handler, arrival: Arrival, admitted: Callable[[web.Request], None]
    ) -> web.StreamResponse:
        secret = request.cookies.get(arrival.cookie, "")
        browser = self.sessions.find(secret)
        if browser is None:
            return self._pages.refused(request)
        visitor = _visitor(browser, csrf_of(secret))
        if not self._rights.may_enter(visitor):
            if not self._rights.are_known:
                headers = {"Retry-After": "1", "Refresh": "1"}
                return web.Response(status=503, text="Parley is starting", headers=headers)
            await self.sessions.sign_out(lambda each: each.principal == browser.principal, but=request)
            self._rights.record(browser.principal, "page sign-out", browser=browser.name, reason="role")
            return self._pages.refused(request)
        admitted(request)
        try:
            with self.sessions.serving(browser, request):
                if request.method not in SAFE and not await _brings_token(request, visitor.csrf):
                    self._note("no token of this page", request)
                    return web.Response(status=403, text="refused: load the page again, then repeat that")
                self.sessions.used(browser, arrival.place)
                let_in(request, visitor)
                return await handler(request)
        except TooManyRequests:
            return web.Response(status=429, text="too many tabs of this browser", headers={"Retry-After": "5"})

    def _offer(self, request: web.Request, arrival: Arrival) -> web.StreamResponse:
        """Show the button that signs in. Nothing is used up: programs that preview links come here too."""
        link = self._link(request, request.query["token"], arrival)
        return self._pages.offer(request, link) if isinstance(link, Link) else link

    async def _sign_in(self, request: web.Request, arrival: Arrival) -> web.StreamResponse:
        if request.content_length is None or request.content_length > MOST_FORM:
            return web.Response(status=413, text="refused: this is no form of this page")
        await _read(request)
        token = str((await request.post()).get("token", ""))
        link = self._link(request, token, arrival)
        if not isinstance(link, Link):
            return link
        if await self.links.use(token) is None:
            return self._pages.stale(request)
        agent, before = request.headers.get("User-Agent", ""), request.cookies.get(arrival.cookie, "")
        secret = await self.sessions.sign_in(
            link.principal, link.person, agent=agent, place=arrival.place, instead_of=before
        )
        browser = self.sessions.find(secret)
        self._rights.record(
            link.principal, "page sign-in", browser=browser.name if browser else "", place=arrival.place
        )
        log.info("page_signed_in", principal=link.principal)
        if link.expires is None:
            self._link_used()
        answer = web.Response(status=303, headers={"Location": "/"})
        answer.set_cookie(
            arrival.cookie,
            secret,
            max_age=UNUSED_SECONDS,
            httponly=True,
            samesite="Strict",
            secure=arrival.is_public,
            path="/",
        )
        return answer

    def _link(self, request: web.Request, token: str, arrival: Arrival) -> Link | web.Response:
        """Return the open link of a token, or the answer to a wrong one."""
        are_too_many = self._wrong.are_too_many(arrival.place)
        if are_too_many and arrival.is_public:
            return self._pages.wait(request)
        link = self.links.find(token)
        if link is not None and self._rights.may_enter(Visitor(link.principal, link.person)):
            return link
        if are_too_many:
            return self._pages.wait(request)
        self._wrong.add(arrival.place)
        if self._wrong_links.is_due():
            self._rights.record(UNKNOWN, "page refused", place=arrival.place, reason="wrong link")
        return self._pages.stale(request)

    def _arrival(self, request: web.Request) -> Arrival:
        """Return how a request came. Raises ForeignHost for one of another host, or by another site."""
        arrival = self.address.arrival(request)
        origin = request.headers.get("Origin")
        if origin is not None and origin != arrival.origin:
            raise ForeignHost("another web site sent this")
        is_visit = request.method in SAFE and request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate"
        if not is_visit and request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
            raise ForeignHost("another web site sent this")
        return arrival

    def _foreign(self, request: web.Request, reason: str) -> web.Response:
        self._note(reason, request)
        return web.Response(status=403, text=f"refused: {reason}")

    def _note(self, reason: str, request: web.Request) -> None:
        if self._refusals.is_due():
            log.warning("page_refused", reason=reason, path=request.path)
            self._rights.record(UNKNOWN, "page refused", place=request.remote or "", reason=reason)


def _visitor(browser: Browser, csrf: str = "") -> Visitor:
    return Visitor(browser.principal, browser.person, csrf)


async def _brings_token(request: web.Request, csrf: str) -> bool:
    offered = request.headers.get(CSRF_HEADER, "")
    if request.content_type != "multipart/form-data":
        await _read(request)
    if not offered and request.content_type == "application/x-www-form-urlencoded":
        offered = str((await request.post()).get(CSRF_FIELD, ""))
    return hmac.compare_digest(offered.encode("utf-8", "replace"), csrf.encode())


async def _read(request: web.Request) -> None:
    """Read the whole body, which aiohttp keeps for the handler. Raises web.HTTPRequestTimeout."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            await request.read()
    except TimeoutError as error:
        raise web.HTTPRequestTimeout(text="the request took too long") from error
