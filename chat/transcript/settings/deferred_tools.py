"""Lists the tools that wait until a search finds them for a conversation."""

from __future__ import annotations

from toolsupport.core.remote_tools import RemoteTool
from toolsupport.registry.mcp import mcp_servers


def tools() -> tuple[RemoteTool, ...]:
    """Return the tools of MCP servers, as they are stored now."""
    return mcp_servers.known_tools()
