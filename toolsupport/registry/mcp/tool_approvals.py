"""Approves the definitions of MCP tools, and marks tools that only read."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone

from toolsupport.core.errors import Conflict, NotFound
from toolsupport.core.name_order import by_name
from toolsupport.models import McpServer, McpTool
from toolsupport.registry.mcp.mcp_servers import held
from toolsupport.registry.people import audit_log

WRITTEN = (
    "definition",
    "digest",
    "waiting",
    "waiting_digest",
    "waiting_since",
    "read_only",
    "approved_by",
    "approved_at",
)


@transaction.atomic
def approve(tool_id: int, digest: str, read_only: bool, actor: int) -> None:
    """Pin the definition of this digest, which the person saw. Raises NotFound, Conflict if it changed meanwhile."""
    row = held(tool_id)
    if row is None:
        raise NotFound("This tool does not exist.")
    if row.waiting is None or row.waiting_digest != digest:
        raise Conflict("The definition has changed since you read it. Read it again.", row.waiting_digest)
    _pin(row, actor)
    row.read_only = read_only
    row.save(update_fields=WRITTEN)
    audit_log.write(actor, "approve_tool", *_audited(row))


@transaction.atomic
def approve_all(server_id: int, seen: Mapping[int, str], actor: int) -> tuple[list[str], list[str]]:
    """Pin several definitions of one server; return the names of the tools that were approved and that were not.

    `seen` has the digest of each tool (id) that the person saw: a definition that changed since is left out. Nothing
    but the definition is approved: each of these tools asks every time, also one that was read-only before. Raises
    NotFound.
    """
    if not McpServer.objects.select_for_update().filter(pk=server_id).exists():
        raise NotFound("This server does not exist.")
    found = McpTool.objects.select_related("server").filter(server=server_id, pk__in=seen)
    rows = sorted(found, key=lambda row: by_name(row.name))
    pinned = [row for row in rows if _offered(row) and row.waiting_digest == seen[row.pk]]
    for row in pinned:
        _pin(row, actor)
    McpTool.objects.bulk_update(pinned, WRITTEN, batch_size=50)
    audit_log.write_all(actor, "approve_tool", [_audited(row) for row in pinned])
    return [row.name for row in pinned], [row.name for row in rows if row not in pinned]


@transaction.atomic
def set_read_only(tool_id: int, read_only: bool, actor: int) -> None:
    """Set whether an approved tool is read-only, so that it runs without asking. Raises NotFound."""
    row = held(tool_id)
    if row is None or not row.digest:
        raise NotFound("This approved tool does not exist.")
    row.read_only = read_only
    row.save(update_fields=["read_only"])
    audit_log.write(actor, "approve_tool", *_audited(row))


def _offered(row: McpTool) -> bool:
    return row.waiting is not None and row.gone_since is None


def _pin(row: McpTool, actor: int) -> None:
    """Approve the waiting definition, and nothing else."""
    row.definition, row.digest, row.waiting = row.waiting, row.waiting_digest, None
    row.waiting_digest, row.waiting_since, row.read_only = "", None, False
    row.approved_by_id, row.approved_at = actor, timezone.now()


def _audited(row: McpTool) -> tuple[str, str]:
    stated = "marked as read-only" if row.read_only else "asks every time"
    return str(row), f"{row} of digest {row.digest[:16]}, {stated}"
