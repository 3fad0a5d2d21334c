"""The screen of browsers: who is signed in on the page, and links for another browser or a phone."""

import segno
from msgspec import Struct

from gateway.admin.screen import Group, View, Visit
from gateway.commands.page import LOCAL, Entrance
from gateway.permissions.access import Access
from gateway.store.browsers import Browser


class _Row(Struct, frozen=True):
    browser: Browser
    who: str
    """Empty for the person at this machine."""
    is_mine: bool


class _Link(Struct, frozen=True):
    address: str
    expires: float
    picture: str
    """Path of the squares of its QR code, in units of one square."""
    size: int


class BrowsersScreen:
    """Shows browsers and links. Owners see all browsers, admins their own; links are shown to who asked for them."""

    name = "browsers"
    group = Group.SYSTEM
    icon = "monitor-smartphone"

    def __init__(self, entrance: Entrance | None, access: Access) -> None:
        self._entrance = entrance
        self._access = access

    async def view(self, visit: Visit) -> View:
        """Return the browsers, the one used last first, and the visitor's open links."""
        principal = visit.visitor.principal
        others = self._access.other_accounts(visit.chat, visit.sender)
        mine = {principal, *(":".join(filter(None, each)) for each in others)}
        found = self._entrance.browsers if self._entrance else ()
        rows = [
            _Row(each, each.person or ("" if each.principal == LOCAL else each.principal), each.principal in mine)
            for each in found
            if visit.is_owner or each.principal in mine
        ]
        given = self._entrance.open_links(principal) if self._entrance else ()
        links = [_link(address, expires) for address, expires in given]
        facts = {
            "browsers": rows,
            "links": links,
            "is_reachable": self._entrance is not None and self._entrance.is_reachable,
        }
        return View("browsers.html", facts)


def _link(address: str, expires: float) -> _Link:
    code = segno.make(address, micro=False, error="m")
    squares = [
        f"M{column} {row}h1v1h-1z"
        for row, line in enumerate(code.matrix_iter(border=4))
        for column, is_dark in enumerate(line)
        if is_dark
    ]
    return _Link(address, expires, "".join(squares), int(code.symbol_size(border=4)[0]))
