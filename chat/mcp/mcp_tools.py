"""Approved tools of MCP servers, as turns offer and run them: nothing of it is kept from one turn for another."""

from __future__ import annotations

import json

from chat.mcp import mcp_hosts
from chat.mcp.client.connection import CALL
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
    """The built-in or approved tool of this name, as the rows have it now."""
    if name in BUILTINS or MARK not in name:
        return BUILTINS.get(name)
    return next((tool_of(remote) for remote in mcp_servers.known_tools() if remote.spec.name == name), None)


def candidate_of(remote: RemoteTool) -> Candidate:
    """A tool that was approved once, for the rules to decide about."""
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
    """A tool as turns run it: asked for each time, unless an administrator said that it only reads.

    One that only reads learns what it is asked, which may be what a file told the model to carry out of the house.
    """

    async def run(context: ToolContext, arguments: JSON) -> ToolResult:
        if context.basis not in ("", remote.digest):
            raise ToolError(f"{remote.spec.name} was defined anew after this call was allowed, so it was not run.")
        return await mcp_hosts.current().run(remote, context, arguments)

    def preview(context: ToolContext, arguments: JSON) -> Preview:
        written = json.dumps(arguments, indent=2, ensure_ascii=False)
        asked = f"Let {remote.server.name} run {remote.name}? It is a program of others."
        return Preview(asked, basis=remote.digest, code=written)

    phrase, sends = f"Ask {remote.server.name}", not remote.in_house
    return Tool(remote.spec, run, remote.level, phrase, timeout=TIMEOUT, preview=preview, taints=True, sends=sends)
