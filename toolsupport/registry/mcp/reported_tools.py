"""Stores the tools that MCP servers report, without changing people's decisions."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from toolsupport.core import redaction, remote_tools
from toolsupport.core.types import JSON
from toolsupport.models import McpServer, McpTool

LONGEST_ERROR = 500
WRITTEN = ("waiting", "waiting_digest", "waiting_since", "gone_since")


@transaction.atomic
def seen(server_id: int, version: str, definitions: list[JSON]) -> None:
    """Store the server's tools. A new one, or one that differs from its approved definition, needs approval.

    A server that was removed meanwhile is ignored.
    """
    server = McpServer.objects.select_for_update().filter(pk=server_id).first()
    if server is None:
        return
    now = timezone.now()
    taken, server.left_out = remote_tools.taken(definitions)
    _mark_reachable(server, version, now)
    rows = {row.name: row for row in server.tools.all()}
    for name, row in rows.items():
        row.gone_since = None if name in taken else row.gone_since or now
        if name in taken:
            _mark_offered(row, taken[name], now)
    fresh = [McpTool(server=server, name=name) for name in taken if name not in rows]
    for row in fresh:
        _mark_offered(row, taken[row.name], now)
    McpTool.objects.bulk_create(fresh, batch_size=100)
    McpTool.objects.bulk_update(list(rows.values()), WRITTEN, batch_size=50)


@transaction.atomic
def failed(server_id: int, why: str) -> None:
    """Store that it does not answer, with the time of the first failure."""
    server = McpServer.objects.select_for_update().filter(pk=server_id).first()
    if server is None:
        return
    server.reachable, server.checked_at = False, timezone.now()
    server.down_since = server.down_since or server.checked_at
    server.last_error = redaction.redact(why)[:LONGEST_ERROR]
    server.save(update_fields=["reachable", "checked_at", "down_since", "last_error"])


def _mark_reachable(server: McpServer, version: str, now: datetime) -> None:
    server.version = version[:120]
    server.reachable, server.down_since, server.last_error = True, None, ""
    server.last_seen_at = server.checked_at = now
    columns = ["version", "reachable", "down_since", "last_error", "last_seen_at", "checked_at", "left_out"]
    server.save(update_fields=columns)


def _mark_offered(row: McpTool, definition: JSON, now: datetime) -> None:
    digest = remote_tools.digest(definition)
    if digest == row.digest:
        row.waiting, row.waiting_digest, row.waiting_since = None, "", None
    elif digest != row.waiting_digest:
        row.waiting, row.waiting_digest, row.waiting_since = definition, digest, now
