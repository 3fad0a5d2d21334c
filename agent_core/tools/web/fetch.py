"""Fetching of a web page: only allowed addresses, limited in time and size, without cookies, keys or proxies."""

import asyncio
import re
from dataclasses import dataclass
from http import HTTPStatus

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from agent_core.tools.tool import RetryableToolError, ToolFailed
from agent_core.tools.web.guard import ForbiddenAddress, MayReach, guarded_connector, public_web

SECONDS = 15.0
"""Total time, redirects included."""
CONNECT_S = 8.0
MOST_BYTES = 2 * 1024**2
"""Size after decompression."""
MOST_REDIRECTS = 5
URL_CHARS = 2000

HEADERS = {
    "User-Agent": "Mozilla/5.0 (compatible; Parley)",
    "Accept": "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.8, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}

_MEDIA_TYPE = re.compile(r"[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,80}", re.I)
_TEXT_TYPES = frozenset(
    f"application/{name}"
    for name in ("json", "xml", "csv", "yaml", "x-yaml", "toml", "javascript", "x-ndjson", "rtf", "x-tex")
)
_MOVED = (
    HTTPStatus.MOVED_PERMANENTLY,
    HTTPStatus.FOUND,
    HTTPStatus.SEE_OTHER,
    HTTPStatus.TEMPORARY_REDIRECT,
    HTTPStatus.PERMANENT_REDIRECT,
)


@dataclass(frozen=True)
class Fetched:
    """A server's response."""

    url: str
    """The address after redirects."""
    status: int
    media_type: str
    """In lower case, without parameters; empty if the server did not send it."""
    charset: str | None
    body: bytes
    whole: bool
    """False if the body was cut at its limit."""


class Fetcher:
    """Fetches pages. `may_reach` decides which addresses and ports it connects to: by default those of the public
    web."""

    def __init__(
        self, may_reach: MayReach = public_web, resolver: AbstractResolver | None = None, *, seconds: float = SECONDS
    ) -> None:
        self._may_reach = may_reach
        self._resolver = resolver
        self._seconds = seconds

    async def get(self, address: str) -> Fetched:
        """Fetch a page, following redirects. Raises ToolFailed with the problem and advice for the model."""
        url = _checked(address)
        try:
            async with asyncio.timeout(self._seconds), self._session() as session:
                for _ in range(MOST_REDIRECTS + 1):
                    found = await _one(session, url)
                    if isinstance(found, Fetched):
                        return found
                    url = found
        except TimeoutError as error:
            raise ToolFailed(
                f"{_host(url)} gave no whole page within {self._seconds:g} s", "try another page"
            ) from error
        except ForbiddenAddress as error:
            raise ToolFailed(
                f"{_host(url)} leads to a private or special address, or to a port other than 80 and 443",
                "only pages of the open web can be read; tell the person",
            ) from error
        except (aiohttp.ClientError, ValueError) as error:
            raise _failure(url, error) from error
        raise ToolFailed(f"{_host(url)} redirects more than {MOST_REDIRECTS} times", "try another page")

    def _session(self) -> aiohttp.ClientSession:
        """Return a session for one page, so that no state is carried over to the next."""
        return aiohttp.ClientSession(
            connector=guarded_connector(self._may_reach, self._resolver),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=HEADERS,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
            trust_env=False,
        )


def _checked(address: str, base: URL | None = None) -> URL:
    """Return the address, resolved relative to `base`. Raises ToolFailed if it is not allowed."""
    advice = "give a whole address that begins with https://"
    try:
        url = URL(address.strip()) if base is None else base.join(URL(address.strip()))
        host = url.host
    except ValueError as error:
        raise ToolFailed("that is no address of the web", advice) from error
    if url.scheme not in ("http", "https") or not host:
        raise ToolFailed(f"only http:// and https:// can be read, not {url.scheme[:20]!r}", advice)
    if url.user is not None or url.password is not None:
        raise ToolFailed("an address with a user name or a password in it is not read", "leave them out")
    if len(str(url)) > URL_CHARS:
        raise ToolFailed(f"the address is longer than {URL_CHARS} characters", "use a shorter one")
    return url.with_fragment(None)


def _host(url: URL) -> str:
    return (url.host or "")[:80]


async def _one(session: aiohttp.ClientSession, url: URL) -> Fetched | URL:
    """Return the page, or the address it redirects to."""
    async with session.get(url, allow_redirects=False) as response:
        place = response.headers.get("Location")
        if response.status in _MOVED and place:
            return _checked(place, url)
        if response.status >= HTTPStatus.BAD_REQUEST:
            raise ToolFailed(_refused(url, response.status), "check the address, or try another page")
        media_type = _media_type(response)
        if media_type and not _is_text(media_type):
            raise ToolFailed(
                f"{_host(url)} sends {media_type}, and only text can be read", "look for a page that says the same"
            )
        body, whole = await _read(response)
        return Fetched(str(url), response.status, media_type, response.charset, body, whole)


def _refused(url: URL, status: int) -> str:
    try:
        words = HTTPStatus(status).phrase
    except ValueError:
        words = ""
    return f"{_host(url)} answers {status} {words}".rstrip()


def _media_type(response: aiohttp.ClientResponse) -> str:
    found = _MEDIA_TYPE.fullmatch(response.headers.get("Content-Type", "").partition(";")[0].strip())
    return found.group().lower() if found else ""


def _is_text(media_type: str) -> bool:
    kind, _, form = media_type.partition("/")
    return kind == "text" or media_type in _TEXT_TYPES or (kind == "application" and form.endswith(("+xml", "+json")))


async def _read(response: aiohttp.ClientResponse) -> tuple[bytes, bool]:
    """Read at most MOST_BYTES and return them with True if that is all. Decompression stops at the limit, too."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MOST_BYTES:
            return bytes(body[:MOST_BYTES]), False
    return bytes(body), True


def _failure(url: URL, error: aiohttp.ClientError | ValueError) -> ToolFailed:
    host = _host(url)
    match error:
        case aiohttp.ClientConnectorDNSError():
            return ToolFailed(f"there is no server named {host}", "check the address, or search for it")
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientSSLError():
            return ToolFailed(f"{host} has no valid certificate", "do not trust it; try another page")
        case aiohttp.InvalidURL() | ValueError():
            return ToolFailed("that is no address of the web", "give a whole address that begins with https://")
        case aiohttp.ClientConnectionError():
            return RetryableToolError(f"no connection to {host}", "try another page")
        case _:
            return ToolFailed(f"{host} sent an answer that cannot be read", "try another page")
