"""Restricts the page to browsers that opened a link printed on the console.

Loopback is no authentication: every program and web page on the machine can reach it. So a request needs a cookie that
only the link gives, our Host (which a DNS name pointed at this machine lacks) and, if it names its origin, our origin.
"""

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable, Collection
from pathlib import Path

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from channels.web.visitor import Visitor, let_in
from gateway.errors import HomeUnusable
from gateway.security.log_throttle import LogThrottle

OUR_HOST = re.compile(r"(127\.0\.0\.1|localhost)(:[0-9]{1,5})?", re.ASCII)
SESSION_SECONDS = 90 * 24 * 3600
SECRET_BYTES = 32

log = structlog.get_logger(__name__)


class PageAccess:
    """The one-time token, the cookie it is exchanged for, and the middleware that checks it."""

    def __init__(
        self,
        secret: bytes,
        *,
        public: Collection[str],
        refused: str,
        let_in: Callable[[web.Request], None] = lambda _: None,
        link_changed: Callable[[], None] = lambda: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Create the access check.

        Args:
            secret: Key that signs the cookies.
            public: Routes without the check.
            refused: Page for visitors without a cookie.
            let_in: Called with each request that has a valid cookie.
            link_changed: Called when the token has been used.
            now: Clock, in seconds since the epoch.
        """
        self._secret = secret
        self._public = frozenset(public)
        self._refused = refused
        self._let_in = let_in
        self._link_changed = link_changed
        self._now = now
        self._token = secrets.token_urlsafe(24)
        self._refusals = LogThrottle()

    @property
    def token(self) -> str:
        """The link's one-time token, replaced as soon as it is used."""
        return self._token

    def middleware(self) -> Middleware:
        @web.middleware
        async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
            resource = request.match_info.route.resource
            if resource is not None and resource.canonical in self._public:
                return await handler(request)
            if reason := self._not_ours(request):
                if self._refusals.is_due():
                    log.warning("page_refused", reason=reason, path=request.path)
                return web.Response(status=403, text=f"refused: {reason}")
            if self._takes_token(request):
                return self._welcome(request)
            if self._knows(request.cookies.get(_cookie(request), "")):
                self._let_in(request)
                let_in(request, Visitor())
                return await handler(request)
            return web.Response(status=403, text=self._refused, content_type="text/html")

        return check

    def _not_ours(self, request: web.Request) -> str:
        """Return the reason to treat the request as foreign, or "" if it is ours."""
        host = request.headers.get("Host", "")
        if not OUR_HOST.fullmatch(host):
            return "this page answers only at 127.0.0.1 and localhost"
        origin = request.headers.get("Origin")
        if origin is not None and origin != f"http://{host}":
            return "another web site sent this"
        if not self._is_visit(request) and request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
            return "another web site sent this"
        return ""

    def _is_visit(self, request: web.Request) -> bool:
        return request.method in ("GET", "HEAD") and request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate"

    def _takes_token(self, request: web.Request) -> bool:
        offered = request.query.get("token", "")
        if request.method != "GET" or request.path != "/":
            return False
        if not _same(offered, self._token):
            return False
        self._token = secrets.token_urlsafe(24)
        log.info("page_link_used")
        self._link_changed()
        return True

    def _welcome(self, request: web.Request) -> web.Response:
        if request.headers.get("Sec-Fetch-Site", "none") in ("same-origin", "none"):
            answer = web.Response(status=303, headers={"Location": "/"})
        else:  # followed from another site: a strict cookie is not sent along a redirect, but with a page's own refresh
            answer = web.Response(headers={"Refresh": "0; url=/"}, text="Welcome.")
        answer.set_cookie(
            _cookie(request), self._session(), max_age=SESSION_SECONDS, httponly=True, samesite="Strict", path="/"
        )
        return answer

    def _session(self) -> str:
        ends = f"{self._now() + SESSION_SECONDS:.0f}"
        return f"{ends}.{self._sign(ends)}"

    def _knows(self, session: str) -> bool:
        ends, _, signature = session.partition(".")
        return _same(signature, self._sign(ends)) and float(ends) > self._now()

    def _sign(self, ends: str) -> str:
        return hmac.new(self._secret, ends.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def _cookie(request: web.Request) -> str:
    """Return the cookie's name. It contains the port, since browsers send a host's cookies to all its ports."""
    return f"parley_{request.host.partition(':')[2] or 80}"


def _same(offered: str, known: str) -> bool:
    return hmac.compare_digest(offered.encode("utf-8", "replace"), known.encode())


def read_secret(path: Path) -> bytes:
    """Return the key that signs sessions, creating a file for it that only its owner can read.

    The file keeps browsers signed in over restarts; deleting it signs all out. Raises HomeUnusable.
    """
    try:
        return _kept(path)
    except OSError as error:
        raise HomeUnusable(path, error.strerror or type(error).__name__) from error


def _kept(path: Path) -> bytes:
    if path.exists() and path.stat().st_mode & 0o077 == 0:
        kept = path.read_bytes()
        if len(kept) >= SECRET_BYTES:
            return kept
    fresh = secrets.token_bytes(SECRET_BYTES)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.unlink(missing_ok=True)
    path.touch(mode=0o600, exist_ok=False)
    path.write_bytes(fresh)
    return fresh
