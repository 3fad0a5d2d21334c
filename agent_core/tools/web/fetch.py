"""Fetching of a web page: only allowed addresses, limited in time and size, without cookies, keys or proxies.

Checking the written address is not enough: `127.1`, a name that resolves to 127.0.0.1 and a redirect get past it. So
names are resolved once, every address is checked, and only checked ones are connected to.
"""

import asyncio
import re
import socket
from collections.abc import Callable
from http import HTTPStatus
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver
from msgspec import Struct
from yarl import URL

from agent_core.late_pattern import LatePattern
from agent_core.tools.tool import RetryableToolError, ToolFailed

Address = IPv4Address | IPv6Address
MayReach = Callable[[Address, int], bool]
"""Returns True if a connection to this address and port is allowed."""

PORTS = frozenset({80, 443})

_SPECIAL_V4 = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",
            "100.64.0.0/10",
            "192.0.0.0/24",  # protocol assignments and a cloud's metadata; Python counts some as global
            "192.88.99.0/24",  # relays to 6to4
            "168.63.129.16/32",  # formally global, but the metadata service of a cloud
        ),
    )
)
_GLOBAL_UNICAST = ip_network("2000::/3")
"""All public IPv6 addresses; excludes NAT64, site-local and IPv4-compatible ones, among others."""
_SPECIAL_V6 = tuple(map(ip_network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))
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

_MEDIA_TYPE = LatePattern(r"[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,80}", re.I)
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


def is_public(address: Address) -> bool:
    """Return True for an address of the public internet that does not embed another one."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address not in _GLOBAL_UNICAST or any(address in network for network in _SPECIAL_V6):
            return False
    elif any(address in network for network in _SPECIAL_V4):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved)


def public_web(address: Address, port: int) -> bool:
    """Return True for what model-chosen addresses may reach: public hosts at ports 80 and 443."""
    return port in PORTS and is_public(address)


class ForbiddenAddress(Exception):
    """The address is not allowed; no connection was opened."""


class AnswerRefused(ToolFailed):
    """A server answered with the status of a failure."""

    def __init__(self, fact: str, status: int) -> None:
        super().__init__(fact, "check the address, or try another page")
        self.status = status


class VettingResolver(AbstractResolver):
    """Resolves a name, and refuses it if any of its addresses is forbidden: no legitimate name mixes both kinds."""

    def __init__(self, may_reach: MayReach, inner: AbstractResolver) -> None:
        self._may_reach = may_reach
        self._inner = inner

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await self._inner.resolve(host, port, family)
        for each in found:
            _vet(self._may_reach, each["host"], each["port"])
        return found

    async def close(self) -> None:
        await self._inner.close()


def guarded_connector(may_reach: MayReach, resolver: AbstractResolver | None = None) -> aiohttp.TCPConnector:
    """Return a connector that only reaches what `may_reach` allows; use it once and close it."""

    def open_socket(info: tuple[int, int, int, str, tuple[str | int, ...]]) -> socket.socket:
        family, kind, protocol, _, target = info
        _vet(may_reach, str(target[0]), int(target[1]))
        return socket.socket(family, kind, protocol)

    return aiohttp.TCPConnector(
        resolver=VettingResolver(may_reach, resolver or ThreadedResolver()),
        # Addresses written as numbers are never resolved; only this check applies to them.
        socket_factory=open_socket,
        use_dns_cache=False,
        force_close=True,
    )


def _vet(may_reach: MayReach, host: str, port: int) -> None:
    address = ip_address(host)
    if not may_reach(address, port):
        raise ForbiddenAddress(f"{address} port {port}")


class Fetched(Struct, frozen=True):
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
        return await self._get(address, MOST_BYTES, is_file=False)

    async def download(self, address: str, most: int) -> Fetched:
        """Fetch a file of any type, at most so many bytes of it. Raises ToolFailed."""
        return await self._get(address, most, is_file=True)

    async def _get(self, address: str, most: int, *, is_file: bool) -> Fetched:
        url = _checked(address)
        try:
            async with asyncio.timeout(self._seconds), self._session() as session:
                for _ in range(MOST_REDIRECTS + 1):
                    found = await _one(session, url, most, is_file=is_file)
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


async def _one(session: aiohttp.ClientSession, url: URL, most: int, *, is_file: bool) -> Fetched | URL:
    """Return the page, or the address it redirects to."""
    async with session.get(url, allow_redirects=False) as response:
        place = response.headers.get("Location")
        if response.status in _MOVED and place:
            return _checked(place, url)
        if response.status >= HTTPStatus.BAD_REQUEST:
            raise AnswerRefused(_refused(url, response.status), response.status)
        media_type = _media_type(response)
        if media_type and not is_file and not _is_text(media_type):
            raise ToolFailed(
                f"{_host(url)} sends {media_type}, and only text can be read", "look for a page that says the same"
            )
        body, whole = await _read(response, most)
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


async def _read(response: aiohttp.ClientResponse, most: int) -> tuple[bytes, bool]:
    """Read at most so many bytes and return them with True if that is all. Decompression stops at the limit, too."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > most:
            return bytes(body[:most]), False
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


class Page(Struct, frozen=True):
    """A page as text."""

    title: str
    """Empty if it has none."""
    text: str
    """Markdown of the visible content; empty if there is none."""
    whole: bool = True
    """False if the page was too long or complex to be read to its end."""
