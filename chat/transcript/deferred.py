"""The tools that wait until a search finds them for a conversation."""

from __future__ import annotations

from toolsupport.core.remote_tools import RemoteTool
from toolsupport.registry import mcp


def tools() -> tuple[RemoteTool, ...]:
    """Those of MCP servers, as the rows have them now."""
    return mcp.known_tools()
