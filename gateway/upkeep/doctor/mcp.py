"""Checks that each MCP server answers. Servers that are local programs are started and stopped again."""

from agent_core.mcp.servers import Looked, McpServers, how_to_install
from channels.checkup import Finding, note, ok, problem
from gateway.settings.settings import Settings

WITHIN = 30.0
"""Seconds; programs take a while to start, and all are asked at the same time."""


async def look_at_mcp(settings: Settings) -> list[Finding]:
    """Return one finding per configured server."""
    if not settings.mcp:
        return []
    try:
        looked = await McpServers(settings.mcp, settings.environ).look(WITHIN)
    except ImportError as error:
        names = ", ".join(settings.mcp)
        return [problem(f"MCP servers are set up ({names}), and cannot be used: {error}", how_to_install())]
    return [_verdict(each) for each in looked]


def _verdict(server: Looked) -> Finding:
    name = f"MCP server {server.name}"
    if server.trouble:
        return problem(f"{name}: {server.trouble}", server.fix)
    if not server.tools:
        return note(f"{name} answers, and has no tools")
    return ok(f"{name}: {server.tools} tool{'s' if server.tools > 1 else ''}")
