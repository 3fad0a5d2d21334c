"""The MCP servers as people see them: the command /mcp and the screen."""
