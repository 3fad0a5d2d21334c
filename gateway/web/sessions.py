"""The browsers that are signed in: who they act for, when they were used, and their requests under way."""

import hmac
import re
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256

import structlog
from aiohttp import web
from msgspec import Struct
from msgspec.structs import replace

from agent_core.background import Background
from gateway.store.browsers import Browser, Browsers

UNUSED_SECONDS = 90 * 24 * 3600
"""A browser that was not used for so long has to sign in again."""
WRITTEN_EVERY = 60.0
"""Seconds between two writes of when a browser was used."""
MOST_REQUESTS = 64
"""Requests, among them event streams, that one browser may have under way."""
LONGEST_NAME = 60
_COOKIE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_BROWSERS = (
    ("Edge", r"\bEdgA?(iOS)?/"),
    ("Opera", r"\bOPR/"),
    ("Samsung Internet", r"\bSamsungBrowser/"),
    ("Firefox", r"\b(Firefox|FxiOS)/"),
    ("Chrome", r"\b(Chrome|CriOS|HeadlessChrome)/"),
    ("Safari", r"\bSafari/"),
)
_SYSTEMS = (
    ("Android", r"\bAndroid\b"),
    ("iPad", r"\biPad\b"),
    ("iPhone", r"\biPhone\b"),
    ("Windows", r"\bWindows\b"),
    ("ChromeOS", r"\bCrOS\b"),
    ("macOS", r"\bMac OS X\b"),
    ("Linux", r"\bLinux\b"),
)
"""Names by the first pattern that the User-Agent has."""

log = structlog.get_logger(__name__)


class TooManyRequests(Exception):
    """The browser has as many requests under way as it may have."""


class Keys(Struct, frozen=True):
    """The keys that a browser gets when it signs in. Its requests bring the cookie and one of the others."""

    cookie: str
    token: str
    """Kept by the page's scripts, which share it with their own origin only: browsers send cookies to all ports."""
    ticket: str
    """For addresses that the browser opens by itself, as those of pictures, where scripts cannot add a header."""


class BrowserSessions:
    """Signs browsers in and out. What is decided here holds from the next request on, and ends open streams at once."""

    def __init__(self, rows: Browsers, now: Callable[[], float]) -> None:
        self._rows = rows
        self._now = now
        self._browsers: dict[str, Browser] = {}
        """By digest."""
        self._written: dict[str, float] = {}
        """When each one's last use was written."""
        self._under_way: defaultdict[str, list[web.Request]] = defaultdict(list)
        self._writing = Background("the last use of a browser could not be stored")

    async def load(self) -> None:
        """Read the browsers that were signed in by earlier processes, and forget those that were not used for long."""
        self._browsers = {each.digest: each for each in await self._rows.all()}
        old = [each.digest for each in self._browsers.values() if self._is_old(each)]
        for digest in old:
            del self._browsers[digest]
        if old:
            await self._rows.delete(old)

    async def reload(self) -> None:
        """Read the browsers again, because another node has signed some in or out."""
        found = {each.digest: each for each in await self._rows.all()}
        for digest in self._browsers.keys() - found.keys():
            self._drop(digest)
        for digest, each in found.items():
            known = self._browsers.get(digest)
            self._browsers[digest] = each if known is None else replace(each, used=max(each.used, known.used))

    async def close(self) -> None:
        await self._writing.join()

    @property
    def all(self) -> list[Browser]:
        """All browsers that are signed in, the one used last first."""
        return sorted((each for each in self._browsers.values() if not self._is_old(each)), key=lambda each: -each.used)

    async def sign_in(self, principal: str, person: str, *, agent: str, place: str, instead_of: str = "") -> Keys:
        """Sign a browser in. `instead_of` is the secret of the cookie that it had before."""
        secret, token, now, before = *(secrets.token_urlsafe(32) for _ in range(2)), self._now(), _digest(instead_of)
        name = name_of(agent)
        browser = Browser(_digest(secret), _digest(token), principal, person, name, place, created=now, used=now)
        await self._rows.save(browser, instead_of=before)
        self._browsers[browser.digest] = browser
        self._written[browser.digest] = now
        self._drop(before)
        return Keys(secret, token, _ticket(browser))

    def find(self, secret: str) -> Browser | None:
        """Return the browser whose cookie has this secret."""
        browser = self._browsers.get(_digest(secret)) if _COOKIE.fullmatch(secret) else None
        return None if browser is None or self._is_old(browser) else browser

    def brings_token(self, browser: Browser, token: str) -> bool:
        """Return True if this is the token that the browser got beside its cookie."""
        return hmac.compare_digest(_digest(token), browser.token_digest)

    def brings_ticket(self, browser: Browser, ticket: str) -> bool:
        """Return True if this is the browser's ticket, which opens the addresses of files and event streams."""
        return hmac.compare_digest(ticket.encode("utf-8", "replace"), _ticket(browser).encode())

    def used(self, browser: Browser, place: str) -> None:
        """Note that a browser was used; this is written at most once a minute."""
        now = self._now()
        used = self._browsers[browser.digest] = replace(self._browsers[browser.digest], used=now, place=place)
        if now - self._written.get(browser.digest, browser.used) >= WRITTEN_EVERY:
            self._written[browser.digest] = now
            self._writing.start(self._rows.touch(used), "last use of a browser")

    @contextmanager
    def serving(self, browser: Browser, request: web.Request) -> Iterator[None]:
        """Count a request while it is served, so that it can be ended. Raises TooManyRequests."""
        under_way = self._under_way[browser.digest]
        if len(under_way) >= MOST_REQUESTS:
            raise TooManyRequests
        under_way.append(request)
        try:
            yield
        finally:
            under_way.remove(request)
            if not under_way:
                self._under_way.pop(browser.digest, None)

    async def rename(self, browser: Browser, name: str) -> None:
        renamed = replace(browser, name=" ".join(name.split())[:LONGEST_NAME])
        await self._rows.save(renamed)
        self._browsers[browser.digest] = renamed

    async def sign_out(self, gone: Callable[[Browser], bool], *, but: web.Request | None = None) -> list[Browser]:
        """Sign out the browsers for which `gone` is true, and end their requests except one. Return who they were.

        Nobody sees that they are signed out before it is stored: after a crash they would be in again.
        """
        ended = [each for each in self._browsers.values() if gone(each)]
        for each in ended:
            self._forget(each.digest)
        try:
            if ended:
                await self._rows.delete([each.digest for each in ended])
        finally:
            for each in ended:
                self._end(each.digest, but=but)
        return ended

    def _drop(self, digest: str) -> None:
        self._forget(digest)
        self._end(digest)

    def _forget(self, digest: str) -> None:
        self._browsers.pop(digest, None)
        self._written.pop(digest, None)

    def _end(self, digest: str, *, but: web.Request | None = None) -> None:
        """End the requests of a browser."""
        for request in list(self._under_way.get(digest, ())):
            if request is not but and request.transport is not None:
                request.transport.close()

    def _is_old(self, browser: Browser) -> bool:
        return self._now() - browser.used >= UNUSED_SECONDS


def name_of(agent: str) -> str:
    """Return browser and system from a User-Agent, such as `Firefox on Linux`."""
    browser, system = (
        next((name for name, pattern in table if re.search(pattern, agent[:500])), "")
        for table in (_BROWSERS, _SYSTEMS)
    )
    return " on ".join(filter(None, (browser, system))) or "?"


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "replace")).hexdigest() if secret else ""


def _ticket(browser: Browser) -> str:
    return hmac.new(browser.token_digest.encode(), b"ticket", sha256).hexdigest()
