"""One-time links that sign a browser in, and the limit for wrong ones."""

import hmac
import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import IPv6Address, ip_address, ip_network

LASTS = 600.0
"""Seconds that a link is valid."""
MOST_OPEN = 20
"""Links that one person may have open; the oldest gives way."""
MOST_WRONG = 5
"""Wrong tries in a minute from one address."""
MINUTE = 60.0
MOST_ADDRESSES = 10_000
LOCAL_PRINCIPAL = "web:local"


@dataclass(frozen=True)
class Link:
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
    """The links that are open. They are in memory only, so a restart ends them."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._open: list[Link] = []
        self.console = self._made(LOCAL_PRINCIPAL, "", lasts=None)
        """The link that the console shows, replaced as soon as it is used."""

    def give(self, principal: str, person: str) -> Link:
        """Make a link that lasts ten minutes."""
        mine = [each for each in self.open_for(principal) if each.expires is not None]
        for each in mine[: max(0, len(mine) - MOST_OPEN + 1)]:
            self._open.remove(each)
        return self._made(principal, person, lasts=LASTS)

    def open_for(self, principal: str) -> list[Link]:
        """Return the links of a person that lead in, except the console's."""
        self._forget_old()
        return [each for each in self._open if each.principal == principal and each.expires is not None]

    def find(self, token: str) -> Link | None:
        """Return the open link with this token."""
        self._forget_old()
        offered = token.encode("utf-8", "replace")
        found = [each for each in self._open if hmac.compare_digest(each.token.encode(), offered)]
        return found[0] if found else None

    def use(self, token: str) -> Link | None:
        """Use up the link with this token. A second use finds nothing."""
        link = self.find(token)
        if link is not None:
            self._open.remove(link)
            if link is self.console:
                self.console = self._made(LOCAL_PRINCIPAL, "", lasts=None)
        return link

    def drop(self, gone: Callable[[Link], bool]) -> None:
        """Close the links for which `gone` is true."""
        self._open = [each for each in self._open if each is self.console or not gone(each)]

    def _made(self, principal: str, person: str, *, lasts: float | None) -> Link:
        expires = None if lasts is None else self._now() + lasts
        link = Link(secrets.token_urlsafe(24), principal, person, expires)
        self._open.append(link)
        return link

    def _forget_old(self) -> None:
        now = self._now()
        self._open = [each for each in self._open if each.expires is None or each.expires > now]


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
