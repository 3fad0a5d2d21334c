"""Tells owners of tools of MCP servers: of those that nobody has approved, and of those that cannot be offered."""

from collections.abc import Iterator, Sequence

from gateway.permissions.approved_tools import ApprovedTools
from gateway.permissions.question_text import shown
from gateway.texts.say import Language, say
from gateway.upkeep.owners import Owners

MOST_TOOL_NAME = 60
"""Characters."""
MOST_LEFT_OUT = 10
"""Tools of one server that are named."""


class McpNotices:
    """Notifies owners of each change once."""

    def __init__(self, approved: ApprovedTools, owners: Owners) -> None:
        self._approved = approved
        self._owners = owners

    async def tell_of_changes(self) -> None:
        """Tell of descriptions that no owner has approved, for as long as this runs."""
        while True:
            name = await self._approved.changed.get()
            self._owners.tell("mcp_changed", show=f"/mcp {name}", name=name)

    async def tell_of_unusable(self) -> None:
        """Tell of tools that cannot be offered, for as long as this runs."""
        while True:
            name = await self._approved.unusable.get()

            def lines(language: Language, name: str = name) -> str:
                return "\n".join(left_out_lines(self._approved, language, [name]))

            self._owners.tell("mcp_left_out", name=name, lines=lines)


def left_out_lines(approved: ApprovedTools, language: Language, names: Sequence[str] = ()) -> Iterator[str]:
    """Return a line for each tool that cannot be offered, of all servers or of these."""
    for server in names or approved.names:
        left_out = approved.left_out(server)
        for each in left_out[:MOST_LEFT_OUT]:
            tool = quoted(each.tool, MOST_TOOL_NAME, language) if each.tool else "-"
            yield say("mcp_left_out_line", language, tool=tool, name=server, why=say(f"mcp_why_{each.why}", language))
        if (more := len(left_out) - MOST_LEFT_OUT) > 0:
            yield say("mcp_left_out_more", language, name=server, count=more)


def quoted(words: str, most: int, language: Language) -> str:
    """Quote a server's text as code, so that it contains no links or markup, with invisible characters made visible.

    If it is cut, the number of omitted characters is added.
    """
    flat = " ".join(shown(words).replace("`", "'").split())
    rest = len(flat) - most
    return f"`{flat[:most]}`" + (f" ({say('mcp_cut', language, count=rest)})" if rest > 0 else "")
