"""One-time links that sign a browser in, and the limit for wrong ones."""

import hmac
import secrets
from collections import deque
from collections.abc import Callable
from hashlib import sha256
from ipaddress import IPv6Address, ip_address, ip_network

from msgspec import Struct

from agent_core.background import Background
from gateway.store.page_links import OpenLink, PageLinks

LASTS = 600.0
"""Seconds that a link is valid."""
MOST_OPEN = 20
"""Links that one person may have open; the oldest gives way."""
MOST_WRONG = 5
"""Wrong tries in a minute from one address."""
MINUTE = 60.0
MOST_ADDRESSES = 10_000
LOCAL_PRINCIPAL = "web:local"


class Link(Struct, frozen=True):
    """A link that was given out, and the person with whose rights its browser will act."""

    token: str
    principal: str
    person: str
    """Name of the person; empty for the one at this machine."""
    expires: float | None
    """None for that on the console, which is valid until it is used."""

    @property
    def id(self) -> str:
        """A name for it that opens nothing."""
        return sha256(self.token.encode()).hexdigest()[:16]


class Links:
    """The links that are open. They are in memory, so a restart ends them; other nodes know them by their digests."""

    def __init__(self, now: Callable[[], float], rows: PageLinks) -> None:
        self._now = now
        self._rows = rows
        self._writing = Background("an open link could not be stored")
        self._elsewhere: dict[str, Link] = {}
        """Links that other nodes have given out, by digest; their tokens are not known."""
        self._open: list[Link] = []
        self.console = self._made(LOCAL_PRINCIPAL, "", lasts=None)
        """The link that the console shows, replaced as soon as it is used."""

    def give(self, principal: str, person: str) -> Link:
        """Make a link that lasts ten minutes."""
        mine = [each for each in self.open_for(principal) if each.expires is not None]
        for each in mine[: max(0, len(mine) - MOST_OPEN + 1)]:
            self._open.remove(each)
        link = self._made(principal, person, lasts=LASTS)
        if _is_shared(link):
            row = OpenLink(digest_of(link.token), principal, person, self._now() + LASTS)
            self._writing.start(self._rows.add(row), "open link")
        return link

    async def reload(self) -> None:
        """Read the open links again, because another node has given some out or used some up."""
        mine = {digest_of(each.token) for each in self._open if _is_shared(each)}
        found = {each.digest: each for each in await self._rows.all()}
        used = mine - found.keys()
        self._open = [each for each in self._open if digest_of(each.token) not in used]
        others = (found[digest] for digest in found.keys() - mine)
        self._elsewhere = {each.digest: Link("", each.principal, each.person, each.expires) for each in others}

    async def close(self) -> None:
        await self._writing.join()

    def open_for(self, principal: str) -> list[Link]:
        """Return the links of a person that lead in, except the console's."""
        self._forget_old()
        return [each for each in self._open if each.principal == principal and each.expires is not None]

    def find(self, token: str) -> Link | None:
        """Return the open link with this token."""
        self._forget_old()
        offered = token.encode("utf-8", "replace")
        found = [each for each in self._open if hmac.compare_digest(each.token.encode(), offered)]
        return found[0] if found else self._elsewhere.get(digest_of(token))

    async def use(self, token: str) -> Link | None:
        """Use up the link with this token. A second use, on any node, finds nothing."""
        link = self.find(token)
        if link is None:
            return None
        self._open = [each for each in self._open if each is not link]
        self._elsewhere.pop(digest_of(token), None)
        if link is self.console:
            self.console = self._made(LOCAL_PRINCIPAL, "", lasts=None)
        return link if not _is_shared(link) or await self._rows.take(digest_of(token)) else None

    def drop(self, gone: Callable[[Link], bool]) -> None:
        """Close the links for which `gone` is true."""
        mine = [digest_of(each.token) for each in self._open if _is_shared(each) and gone(each)]
        self._open = [each for each in self._open if each is self.console or not gone(each)]
        others = [digest for digest, each in self._elsewhere.items() if gone(each)]
        self._elsewhere = {digest: each for digest, each in self._elsewhere.items() if digest not in others}
        if mine or others:
            self._writing.start(self._rows.close([*mine, *others]), "closed links")

    def _made(self, principal: str, person: str, *, lasts: float | None) -> Link:
        expires = None if lasts is None else self._now() + lasts
        # Letters and digits alone: programs that make links of addresses leave out a `_` or `-` at the end.
        link = Link(secrets.token_hex(16), principal, person, expires)
        self._open.append(link)
        return link

    def _forget_old(self) -> None:
        now = self._now()
        self._open = [each for each in self._open if each.expires is None or each.expires > now]
        still = {digest: each for digest, each in self._elsewhere.items() if (each.expires or 0.0) > now}
        self._elsewhere = still


def _is_shared(link: Link) -> bool:
    """Return True if the link leads in on every node; that of the person at a machine leads in there only."""
    return link.principal != LOCAL_PRINCIPAL


def digest_of(token: str) -> str:
    """Return the name under which other nodes know a link."""
    return sha256(f"parley page {token}".encode("utf-8", "replace")).hexdigest()


class WrongTries:
    """Counts wrong tries by address. Loopback is shared by all programs of a machine: there only they are refused."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._tries: dict[str, deque[float]] = {}

    def are_too_many(self, place: str) -> bool:
        tries = self._tries.get(_network(place))
        return tries is not None and len(tries) == MOST_WRONG and self._now() - tries[0] < MINUTE

    def add(self, place: str) -> None:
        network = _network(place)
        tries = self._tries.pop(network, None) or deque[float](maxlen=MOST_WRONG)
        tries.append(self._now())
        self._tries[network] = tries  # the newest last
        if len(self._tries) > MOST_ADDRESSES:
            del self._tries[next(iter(self._tries))]


def _network(place: str) -> str:
    """Return the address, or for IPv6 the network that one customer has."""
    try:
        address = ip_address(place)
    except ValueError:
        return place
    return str(ip_network((address, 64), strict=False)) if isinstance(address, IPv6Address) else place
