"""The addresses that added servers may have: those of the public web, and this machine if the settings allow it.

Names are checked again when they are connected to, by the addresses that they have then.
"""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from agent_core.mcp.config import McpServer
from agent_core.tools.web.fetch import URL_CHARS, Address, MayReach, is_public

LOOPBACK_NAMES = frozenset({"localhost"})
LONGEST_SHOWN = 20
"""Characters of a part of a path that is no key."""
_SPACES = re.compile(r"\s")


def may_reach(*, local: bool) -> MayReach:
    """Return what decides whether a connection to an address is allowed."""

    def may(address: Address, _port: int) -> bool:
        return is_public(address) or (local and address.is_loopback)

    return may


def wrong_with(url: str, *, local: bool) -> str:
    """Return the key of what is wrong with the address of a server; empty if nothing is."""
    try:
        McpServer(url=url)
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return "mcp_no_address"
    if len(url) > URL_CHARS or _SPACES.search(url) or parts.fragment:
        return "mcp_no_address"
    number = _number(host)
    if host in LOOPBACK_NAMES or (number is not None and number.is_loopback):
        return "" if local else "mcp_private_address"
    if parts.scheme != "https":
        return "mcp_no_https"
    return "mcp_private_address" if number is not None and not is_public(number) else ""


def _number(host: str) -> Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def shown(url: str) -> str:
    """Return the address of a server for people, without what may be a key to it: its query, and long parts."""
    parts = urlsplit(url)
    path = "/".join(each if len(each) <= LONGEST_SHOWN else "…" for each in parts.path.split("/"))
    return f"{parts.scheme}://{parts.netloc}{path}{'?…' if parts.query else ''}"
