"""Settings under which owners may add MCP servers of this machine, as those of tests are."""

from gateway.plugins.mcp.settings import McpSettings


def local() -> dict[str, object]:
    return {"plugin": {"mcp": McpSettings(local=True)}}
