"""MCP servers of this process and the tools they offer."""
