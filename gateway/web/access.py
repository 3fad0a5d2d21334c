"""Restricts the page to browsers that signed in with a one-time link, of people who are owners or admins.

Loopback is no authentication: every program and web page on the machine can reach it. So a request needs a cookie that
only a link gives, a name of ours as its host (which a DNS name pointed at this machine lacks), our origin if it names
one, and a token. Browsers send a host's cookies to all its ports, so whoever serves another port may have the cookie;
the token is in the storage of our origin, which scripts of no other port or site can read.
"""

import asyncio
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
from gateway.web.sessions import UNUSED_SECONDS, BrowserSessions, TooManyRequests
from gateway.web.sign_in import SIGN_IN, Pages

TOKEN = "X-Parley-Token"  # noqa: S105 - a name
"""Header with the token of the browser."""
TICKET = "ticket"
"""Parameter with the ticket of the browser, which stands for the token in these addresses."""
BY_TICKET = frozenset({"/api/events", "/api/files/{reference}", "/api/conversations/export"})
_BROWSER = web.RequestKey("browser", str)
PROGRAM = (".js", ".css")
"""Files of the program, which anybody can read in its repository: tags that load them bring no token."""
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
            if _route(request) in open_routes:
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
        browser = self.sessions.find(request.cookies.get(arrival.cookie, ""))
        if browser is None:
            return self._pages.refused(request)
        visitor = _visitor(browser)
        if not self._rights.may_enter(visitor):
            return await self._not_now(browser, request)
        if not self._brings_key(browser, request):
            return await handler(request) if _is_program(request) else self._without_key(request)
        admitted(request)
        try:
            with self.sessions.serving(browser, request):
                if request.method not in SAFE and request.content_type != "multipart/form-data":
                    await _read(request)
                self.sessions.used(browser, arrival.place)
                let_in(request, visitor)
                request[_BROWSER] = browser.digest
                return await handler(request)
        except TooManyRequests:
            return web.Response(status=429, text="too many tabs of this browser", headers={"Retry-After": "5"})

    async def _not_now(self, browser: Browser, request: web.Request) -> web.Response:
        """Sign a browser out whose person may not use the page any more, or let it wait until that is known."""
        if not self._rights.are_known:
            return web.Response(status=503, text="Parley is starting", headers={"Retry-After": "1", "Refresh": "1"})
        await self.sessions.sign_out(lambda each: each.principal == browser.principal, but=request)
        self._rights.record(browser.principal, "page sign-out", browser=browser.name, reason="role")
        return self._pages.refused(request)

    def _brings_key(self, browser: Browser, request: web.Request) -> bool:
        """Return True if a request brings, beside the cookie, what only the browser that signed in has."""
        if self.sessions.brings_token(browser, request.headers.get(TOKEN, "")):
            return True
        is_open = request.method in SAFE and _route(request) in BY_TICKET
        return is_open and self.sessions.brings_ticket(browser, request.query.get(TICKET, ""))

    def _without_key(self, request: web.Request) -> web.Response:
        """Answer a request that brings the cookie alone, as that of a browser does that opens an address."""
        is_visit = request.method in SAFE and "text/html" in request.headers.get("Accept", "")
        if is_visit and not request.path.startswith("/api/"):
            return self._pages.opening(request)
        self._note("a cookie without its token", request)
        return self._pages.refused(request) if request.method in SAFE else self._pages.no_token(request)

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
        keys = await self.sessions.sign_in(
            link.principal, link.person, agent=agent, place=arrival.place, instead_of=before
        )
        browser = self.sessions.find(keys.cookie)
        self._rights.record(
            link.principal, "page sign-in", browser=browser.name if browser else "", place=arrival.place
        )
        log.info("page_signed_in", principal=link.principal)
        if link.expires is None:
            self._link_used()
        answer = self._pages.signed_in(request, keys)
        answer.set_cookie(
            arrival.cookie,
            keys.cookie,
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


def browser_of(request: web.Request) -> str:
    """Return the digest of the browser from which a request comes that was let in."""
    return request[_BROWSER]


def _visitor(browser: Browser) -> Visitor:
    return Visitor(browser.principal, browser.person)


def _route(request: web.Request) -> str:
    """Return the route's pattern; empty if there is none."""
    resource = request.match_info.route.resource
    return resource.canonical if resource is not None else ""


def _is_program(request: web.Request) -> bool:
    """Return True for what is the same for everybody: the files of the program, and the page that they fill."""
    return request.method in SAFE and (_route(request) == "/" or _route(request).endswith(PROGRAM))


async def _read(request: web.Request) -> None:
    """Read the whole body, which aiohttp keeps for the handler. Raises web.HTTPRequestTimeout."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            await request.read()
    except TimeoutError as error:
        raise web.HTTPRequestTimeout(text="the request took too long") from error
