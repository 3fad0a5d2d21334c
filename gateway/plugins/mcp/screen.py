"""The screen of MCP servers: whether they are connected, their tools, what awaits approval, and a form for more."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from gateway.admin.screen import Group, View, Visit
from gateway.permissions.question_text import shown
from gateway.plugin import Core
from gateway.plugins.mcp.addresses import shown as shown_address

TEMPLATE = Path(__file__).with_name("servers.html")
MOST_TOOL_NAME = 60
"""Characters."""
KNOWN = {
    "notion": "https://mcp.notion.com/mcp",
    "linear": "https://mcp.linear.app/mcp",
    "sentry": "https://mcp.sentry.dev/mcp",
    "deepwiki": "https://mcp.deepwiki.com/mcp",
}
"""Public servers of the makers of these products, by a name for them; people sign in to all but the last."""


class ToolRow(Struct, frozen=True):
    """A tool, in its server's own words."""

    name: str
    about: str
    acts: str
    is_new: bool
    """True if no owner has approved this description."""


class Row(Struct, frozen=True):
    """A server.

    Attributes:
        url: Where it is, if an owner has added it.
        of_each: True if everybody signs in to it for themselves.
        why: Why it is not connected, if that is known.
        asks_sign_in: True if it waits for somebody to sign in.
        left_out: Tools that cannot be offered, each with the key of the reason.
    """

    name: str
    url: str
    of_each: bool
    is_connected: bool
    is_waiting: bool
    why: str
    asks_sign_in: bool
    tools: Sequence[ToolRow]
    left_out: Sequence[tuple[str, str]]


class McpScreen:
    """Shows all MCP servers; owners add servers and approve tools by /mcp."""

    name = "mcp"
    group = Group.SYSTEM
    icon = "waypoints"
    after = "connect"

    def __init__(self, core: Core) -> None:
        self._servers = core.servers
        self._approved = core.servers.approved

    async def view(self, _: Visit) -> View:
        """Return all servers."""
        offered = {tool.name for tool in self._servers.offered()}
        waiting = self._approved.waiting()
        rows = [self._row(each, offered, waiting) for each in self._approved.names]
        known = {name: url for name, url in KNOWN.items() if name not in self._approved.names}
        return View(TEMPLATE, {"servers": rows, "known": known})

    async def waiting(self) -> int:
        """Return the number of servers that await approval."""
        return len(self._approved.waiting())

    def _row(self, name: str, offered: set[str], waiting: Sequence[str]) -> Row:
        new = {tool.name for tool in self._approved.new(name)}
        tools = self._approved.shown(name)
        added, trouble = self._servers.added.get(name), self._servers.trouble(name)
        return Row(
            name,
            shown_address(added.url) if added else "",
            of_each=added is not None and added.of_each,
            is_connected=any(each.name in offered for each in tools) and trouble is None,
            is_waiting=name in waiting,
            why=shown(trouble.fact) if trouble else "",
            asks_sign_in=trouble is not None and trouble.asks_sign_in,
            tools=[
                ToolRow(each.name, shown(each.spec.description), str(each.acts), each.name in new) for each in tools
            ],
            left_out=[
                (shown(each.tool[:MOST_TOOL_NAME]) or "-", f"mcp_why_{each.why}")
                for each in self._approved.left_out(name)
            ],
        )
