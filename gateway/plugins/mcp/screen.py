"""The screen of MCP servers: whether they are connected, their tools, and what awaits approval."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_core.tools.tool import Tool
from gateway.admin.screen import Group, View, Visit
from gateway.permissions.approved_tools import ApprovedTools
from gateway.permissions.question_text import shown

TEMPLATE = Path(__file__).with_name("servers.html")
MOST_TOOL_NAME = 60
"""Characters."""


@dataclass(frozen=True)
class ToolRow:
    """A tool, in its server's own words."""

    name: str
    about: str
    acts: str
    is_new: bool
    """True if no owner has approved this description."""


@dataclass(frozen=True)
class Row:
    """A configured server."""

    name: str
    is_connected: bool
    is_waiting: bool
    tools: Sequence[ToolRow]
    left_out: Sequence[tuple[str, str]]
    """Tools that cannot be offered, each with the key of the reason."""


class McpScreen:
    """Shows the MCP servers of the settings; owners approve by /mcp."""

    name = "mcp"
    group = Group.SYSTEM
    icon = "waypoints"

    def __init__(self, approved: ApprovedTools, offered: Callable[[], Iterable[Tool]]) -> None:
        """`offered` returns the tools that agents can call now."""
        self._approved = approved
        self._offered = offered

    async def view(self, _: Visit) -> View:
        """Return all servers."""
        offered = {tool.name for tool in self._offered()}
        waiting = self._approved.waiting()
        return View(
            Path(__file__).with_name("servers.html"),
            {"servers": [self._row(each, offered, waiting) for each in self._approved.names]},
        )

    async def waiting(self) -> int:
        """Return the number of servers that await approval."""
        return len(self._approved.waiting())

    def _row(self, name: str, offered: set[str], waiting: Sequence[str]) -> Row:
        new = {tool.name for tool in self._approved.new(name)}
        tools = self._approved.shown(name)
        rows = [ToolRow(each.name, shown(each.spec.description), str(each.acts), each.name in new) for each in tools]
        left_out = [
            (shown(each.tool[:MOST_TOOL_NAME]) or "-", f"mcp_why_{each.why}") for each in self._approved.left_out(name)
        ]
        return Row(name, any(each.name in offered for each in tools), name in waiting, rows, left_out)
