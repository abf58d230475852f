"""Stores MCP servers with their tools: definitions, approvals, connections."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from toolsupport.core import remote_tools, server_address_rules
from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.core.name_order import by_name
from toolsupport.core.remote_tools import RemoteServer, RemoteTool
from toolsupport.core.types import ToolSpec
from toolsupport.models import McpServer, McpTool
from toolsupport.registry import any_case, row_cache
from toolsupport.registry import raw_sql as statements
from toolsupport.registry.mcp import stdio_servers
from toolsupport.registry.people import audit_log
from toolsupport.registry.servers import key_encryption

STDIO, HTTP = "stdio", "http"
NOT_NAMED = f"It is no longer in the file {stdio_servers.VARIABLE}."


@dataclass(frozen=True, slots=True)
class ShownMcpTool:
    """A tool as the page shows it. `state` is a key of STATES; `diff` is the change that an approval would make."""

    id: int
    name: str
    callable_name: str
    description: str
    state: str
    read_only: bool
    enabled: bool
    approved_by: str
    approved_at: datetime | None
    waiting_digest: str
    diff: str
    claims_read_only: bool

    @property
    def words(self) -> str:
        """Its state, for people."""
        return STATES[self.state]

    @property
    def about(self) -> str:
        """The first sentence of its description."""
        return remote_tools.first_sentence(self.description)

    @property
    def waits(self) -> bool:
        """Whether its definition needs approval."""
        return self.state in ("new", "changed")

    @property
    def pin(self) -> str:
        """The value that a form sends to approve the shown definition."""
        return f"{self.id}:{self.waiting_digest}"


# The tools for models, by server, name and digest: made once, since every turn needs them.
_specs: dict[tuple[str, str, str], ToolSpec] = {}

# Whether a tool can be called, and if not why, in words.
STATES = {
    "ready": "Ready",
    "new": "New",
    "changed": "Changed",
    "off": "Off",
    "gone": "No longer offered",
}


@dataclass(frozen=True, slots=True)
class ShownMcpServer:
    """A server as the page shows it; `why` describes a problem."""

    id: int
    name: str
    kind: str
    reached_by: str
    enabled: bool
    in_house: bool
    version: str
    reachable: bool | None
    last_seen_at: datetime | None
    down_since: datetime | None
    why: str
    has_token: bool
    left_out: tuple[str, ...] = ()
    tools: tuple[ShownMcpTool, ...] = field(default=())

    @property
    def to_approve(self) -> tuple[ShownMcpTool, ...]:
        """Its tools that need approval."""
        return tuple(tool for tool in self.tools if tool.waits)

    @property
    def waiting(self) -> int:
        """Their number."""
        return len(self.to_approve)

    @property
    def claimed_read_only(self) -> tuple[ShownMcpTool, ...]:
        """Those that the server declares as read-only. This lowers no level; it only selects tools to approve."""
        return tuple(tool for tool in self.to_approve if tool.claims_read_only)

    @property
    def settled(self) -> tuple[ShownMcpTool, ...]:
        """Its other tools."""
        return tuple(tool for tool in self.tools if not tool.waits)


# -- servers --


@transaction.atomic
def add(name: str, url: str, token: str = "") -> int:
    """Define an http server; return the id of its row. Raises ConfigError."""
    if not remote_tools.SERVER_NAME.fullmatch(name) or "__" in name:
        raise ConfigError("A name has up to 32 letters, digits, - and single _, neither of them at its ends.")
    address = server_address_rules.checked(url, "a token", query=True).geturl()
    taken = f"There is already a server called {name!r}; choose another name."
    if McpServer.objects.filter(any_case.same("name", name)).exists():
        raise ConfigError(taken)
    try:
        with transaction.atomic():
            sealed = key_encryption.encrypt(server_address_rules.checked_key(token))
            return McpServer.objects.create(name=name, kind=HTTP, url=address, token=sealed).pk
    except IntegrityError:
        raise ConfigError(taken) from None


@transaction.atomic
def ensure_stdio() -> None:
    """Create a row for each server of the settings file. Raises ConfigError, also for the name of an http server."""
    for name in stdio_servers.commands():
        row, _ = McpServer.objects.get_or_create(name=name, defaults={"kind": STDIO})
        if row.kind != STDIO:
            raise ConfigError(f"{stdio_servers.VARIABLE} names {name!r}, which is an http server already.")


@transaction.atomic
def set_enabled(server_id: int, enabled: bool, actor: int) -> None:
    """Enable or disable a server. Raises NotFound."""
    if not McpServer.objects.filter(pk=server_id).update(enabled=enabled):
        raise NotFound("This server does not exist.")
    name = _server(server_id).name
    audit_log.write(actor, "switch_tool", name, f"All tools of {name}, switched {'on' if enabled else 'off'}")


@transaction.atomic
def set_in_house(server_id: int, in_house: bool, actor: int) -> None:
    """Set whether data that models send to a server stays internal, so that its read-only tools run.

    Raises NotFound.
    """
    if not McpServer.objects.filter(pk=server_id).update(in_house=in_house):
        raise NotFound("This server does not exist.")
    stated = "data sent to it stays internal" if in_house else "data sent to it may leave this site"
    name = _server(server_id).name
    audit_log.write(actor, "trust_server", name, f"{name}: {stated}")


@transaction.atomic
def remove(server_id: int) -> None:
    """Delete an http server with its tools and approvals. Raises NotFound; a server of the file reappears."""
    if not McpServer.objects.filter(pk=server_id, kind=HTTP).delete()[0]:
        raise NotFound("This HTTP server does not exist.")


def enabled_servers() -> tuple[RemoteServer, ...]:
    """Return how to reach each server in use; unreachable ones are left out, and `shown` gives the reason."""
    found = []
    for row in McpServer.objects.filter(enabled=True):
        try:
            found.append(_reached(row))
        except ConfigError:
            continue
    return tuple(found)


def reached(server_id: int) -> RemoteServer:
    """Return how to reach one server. Raises NotFound, ConfigError."""
    return _reached(_server(server_id))


def _reached(row: McpServer) -> RemoteServer:
    if row.kind == HTTP:
        return RemoteServer(row.pk, row.name, HTTP, url=row.url, token=key_encryption.decrypt(row.token))
    command = stdio_servers.commands().get(row.name)
    if command is None:
        raise ConfigError(NOT_NAMED)
    variables = command.variables()
    return RemoteServer(
        row.pk, row.name, STDIO, command=command.command, args=command.args, env=variables, cwd=command.cwd
    )


def _server(server_id: int) -> McpServer:
    row = McpServer.objects.filter(pk=server_id).first()
    if row is None:
        raise NotFound("This server does not exist.")
    return row


# -- tools --


def held(tool_id: int) -> McpTool | None:
    """Return a tool, locked until the transaction ends.

    Its server is locked first, as in the function that stores a server's tools: so no deadlock and no lost update
    occurs.
    """
    list(McpServer.objects.select_for_update(of=("self",)).filter(tools=tool_id))
    return McpTool.objects.select_related("server").filter(pk=tool_id).first()


@transaction.atomic
def set_tool_enabled(tool_id: int, enabled: bool, actor: int) -> None:
    """Enable or disable a tool. Raises NotFound."""
    row = held(tool_id)
    if row is None:
        raise NotFound("This tool does not exist.")
    row.enabled = enabled
    row.save(update_fields=["enabled"])
    audit_log.write(actor, "switch_tool", str(row), f"{row} switched {'on' if enabled else 'off'}")


# Every turn runs this. A tool with the state of its server, which the model's row does not have.
APPROVED = """SELECT toolsupport_mcptool.id, server_id, toolsupport_mcptool.name, digest, waiting_digest, gone_since,
read_only, toolsupport_mcptool.enabled, toolsupport_mcpserver.name AS server_name, kind AS server_kind,
toolsupport_mcpserver.enabled AS server_enabled, reachable AS server_reachable, in_house
FROM toolsupport_mcptool JOIN toolsupport_mcpserver ON toolsupport_mcpserver.id = server_id WHERE digest <> ''"""


def known_tools() -> tuple[RemoteTool, ...]:
    """Return every tool that was ever approved, callable or not: one query, once its specs are cached."""
    return row_cache.read(_known_tools)


def _known_tools() -> tuple[RemoteTool, ...]:
    global _specs
    approved: list[Any] = list(statements.made(McpTool, APPROVED))
    keys = {row.pk: (row.server_name, row.name, row.digest) for row in approved}
    made = {key: _specs[key] for key in keys.values() if key in _specs}
    missing = [row for row, key in keys.items() if key not in made]
    if missing:
        definitions = McpTool.objects.filter(pk__in=missing).values_list("pk", "definition")
        made |= {keys[row]: remote_tools.spec_of(keys[row][0], definition) for row, definition in definitions}
    _specs = made
    return tuple(_tool(row, made[keys[row.pk]]) for row in approved)


def may_still_be_called(tool: RemoteTool) -> bool:
    """Return whether a tool is unchanged since the turn began: its definition, its switches, its mark."""
    rows = McpTool.objects.filter(server_id=tool.server.id, name=tool.name, digest=tool.digest, waiting_digest="")
    rows = rows.filter(enabled=True, server__enabled=True, gone_since=None)
    rows = rows.filter(server__in_house=True) if tool.in_house else rows
    return (rows.filter(read_only=True) if tool.read_only else rows).exists()


def _tool(row: Any, spec: ToolSpec) -> RemoteTool:
    return RemoteTool(
        RemoteServer(row.server_id, row.server_name, row.server_kind),
        row.name,
        spec,
        row.digest,
        read_only=row.read_only,
        in_house=bool(row.in_house),
        enabled=row.enabled,
        connected=bool(row.server_enabled),
        approved=not row.waiting_digest,
        missing=_missing(row),
    )


def _missing(row: Any) -> str:
    if not row.server_reachable:
        return f"Its server {row.server_name} does not answer."
    return f"Its server {row.server_name} does not offer it any more." if row.gone_since is not None else ""


def _state(row: McpTool) -> str:
    if row.gone_since is not None:
        return "gone"
    if row.waiting is not None:
        return "changed" if row.digest else "new"
    return "ready" if row.enabled else "off"


# -- the page --


def shown() -> tuple[ShownMcpServer, ...]:
    """Return all servers with their tools, those in use first, in two queries."""
    rows = McpServer.objects.prefetch_related("tools__approved_by")
    return tuple(_shown(row) for row in sorted(rows, key=lambda row: (not row.enabled, by_name(row.name))))


def waiting() -> int:
    """Count the tools that need approval, of the servers in use."""
    rows = McpTool.objects.filter(server__enabled=True, gone_since=None, enabled=True)
    return rows.exclude(waiting_digest="").count()


def _shown(row: McpServer) -> ShownMcpServer:
    reached_by, why = row.url, row.last_error if row.reachable is False else ""
    if row.kind == STDIO:
        try:
            command = stdio_servers.commands().get(row.name)
            reached_by, why = (command.command, why) if command else ("", NOT_NAMED)
        except ConfigError as error:
            reached_by, why = "", str(error)
    return ShownMcpServer(
        row.pk,
        row.name,
        row.kind,
        reached_by,
        enabled=row.enabled,
        in_house=row.in_house,
        version=row.version,
        reachable=row.reachable,
        last_seen_at=row.last_seen_at,
        down_since=row.down_since,
        why=why,
        has_token=bool(row.token),
        left_out=tuple(row.left_out),
        tools=tuple(_shown_tool(row.name, tool) for tool in sorted(row.tools.all(), key=_order)),
    )


def _order(tool: McpTool) -> tuple[bool, bool, tuple[tuple[str, ...], ...]]:
    """Sort tools that need approval first, removed ones last."""
    return tool.gone_since is not None, tool.waiting is None, by_name(tool.name)


def _shown_tool(server: str, row: McpTool) -> ShownMcpTool:
    spec = remote_tools.spec_of(server, row.waiting or row.definition)
    return ShownMcpTool(
        row.pk,
        row.name,
        spec.name,
        spec.description,
        state=_state(row),
        read_only=row.read_only,
        enabled=row.enabled,
        approved_by=row.approved_by.get_username() if row.approved_by else "",
        approved_at=row.approved_at,
        waiting_digest=row.waiting_digest,
        diff=remote_tools.difference(row.definition, row.waiting) if row.waiting else "",
        claims_read_only=remote_tools.claims_read_only(row.waiting or row.definition),
    )
