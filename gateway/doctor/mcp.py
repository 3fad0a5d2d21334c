"""Does each MCP server answer, and how many tools has it? Programs are started for this, and ended again."""

from agent_core.mcp.servers import Looked, McpServers, how_to_install
from channels.checkup import Finding, note, ok, problem
from gateway.settings import Settings

WITHIN = 5.0
"""Seconds."""


async def look_at_mcp(settings: Settings) -> list[Finding]:
    """One line for each server that is set up."""
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
