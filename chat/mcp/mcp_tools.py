"""Prepares approved tools of MCP servers for turns; nothing is cached between turns."""

from __future__ import annotations

import json

from chat.mcp import mcp_hosts
from chat.mcp.client.connection import CALL
from chat.sentences import sentence
from chat.tools import BUILTINS
from chat.tools.policy import IN_PROGRAMS
from chat.tools.tool import Preview, Tool, ToolContext
from toolsupport.core.errors import ToolError
from toolsupport.core.remote_tools import MARK, RemoteTool
from toolsupport.core.tool_selection import Candidate
from toolsupport.core.types import JSON, ToolResult
from toolsupport.registry.mcp import mcp_servers

TIMEOUT = CALL


def named(name: str) -> Tool | None:
    """Return the built-in or approved tool of this name, as it is stored now."""
    if name in BUILTINS or MARK not in name:
        return BUILTINS.get(name)
    return next((tool_of(remote) for remote in mcp_servers.known_tools() if remote.spec.name == name), None)


def candidate_of(remote: RemoteTool) -> Candidate:
    """Return a once-approved tool as a candidate for the selection rules."""
    return Candidate(
        remote.spec,
        remote.enabled,
        remote.missing,
        kind="mcp",
        server=remote.server.name,
        connected=remote.connected,
        approved=remote.approved,
        in_programs=remote.level in IN_PROGRAMS,
    )


def tool_of(remote: RemoteTool) -> Tool:
    """Return a tool as turns run it: with approval for each call, unless an administrator marked it read-only.

    A read-only tool still receives its arguments, which may be data that outside content asked the model to leak.
    """

    async def run(context: ToolContext, arguments: JSON) -> ToolResult:
        if context.basis not in ("", remote.digest):
            raise ToolError(f"{remote.spec.name} was redefined after this call was allowed, so it was not run.")
        return await mcp_hosts.current().run(remote, context, arguments)

    def preview(context: ToolContext, arguments: JSON) -> Preview:
        written = json.dumps(arguments, indent=2, ensure_ascii=False)
        asked = sentence("use_server_tool", tool=remote.name, server=remote.server.name)
        return Preview(asked, basis=remote.digest, code=written)

    phrase, sends = f"Ask {remote.server.name}", not remote.in_house
    return Tool(remote.spec, run, remote.level, phrase, timeout=TIMEOUT, preview=preview, taints=True, sends=sends)
