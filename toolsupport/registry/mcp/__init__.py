"""MCP servers and their pinned tools as rows."""
