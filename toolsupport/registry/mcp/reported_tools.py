"""Stores the tools that MCP servers report, without changing people's decisions."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from toolsupport.core import redaction
from toolsupport.core.remote_tools import CheckedTools
from toolsupport.core.sentence_codes import mapped
from toolsupport.core.types import JSON
from toolsupport.models import McpServer, McpTool

LONGEST_ERROR = 500
WRITTEN = ("waiting", "waiting_digest", "waiting_since", "gone_since")


def seen(server_id: int, version: str, tools: CheckedTools) -> None:
    """Store the server's tools. A new one, or one that differs from its approved definition, needs approval.

    A server that was removed meanwhile is ignored. A tool that is gone and was never approved is forgotten: a server
    may give its tools other names each time.
    """
    with transaction.atomic():
        server = McpServer.objects.select_for_update().filter(pk=server_id).first()
        if server is not None:
            server.left_out = tools.left_out
            now = timezone.now()
            _mark_reachable(server, version, now)
            _store(server, tools, now)


def _store(server: McpServer, tools: CheckedTools, now: datetime) -> None:
    taken = tools.accepted
    server.tools.filter(digest="").exclude(name__in=taken).delete()
    rows = {row.name: row for row in server.tools.all()}
    changed = []
    for name, row in rows.items():
        before = row.waiting_digest, row.gone_since
        row.gone_since = None if name in taken else row.gone_since or now
        if name in taken:
            _mark_offered(row, taken[name], tools.digests[name], now)
        if (row.waiting_digest, row.gone_since) != before:
            changed.append(row)
    fresh = [McpTool(server=server, name=name) for name in taken if name not in rows]
    for row in fresh:
        _mark_offered(row, taken[row.name], tools.digests[row.name], now)
    McpTool.objects.bulk_create(fresh, batch_size=100)
    McpTool.objects.bulk_update(changed, WRITTEN, batch_size=50)


@transaction.atomic
def failed(server_id: int, why: str) -> None:
    """Store that it does not answer, with the time of the first failure."""
    server = McpServer.objects.select_for_update().filter(pk=server_id).first()
    if server is None:
        return
    server.reachable, server.checked_at = False, timezone.now()
    server.down_since = server.down_since or server.checked_at
    server.last_error = mapped(why, lambda text: redaction.redact(text)[:LONGEST_ERROR])
    server.save(update_fields=["reachable", "checked_at", "down_since", "last_error"])


def _mark_reachable(server: McpServer, version: str, now: datetime) -> None:
    server.version = version[:120]
    server.reachable, server.down_since, server.last_error = True, None, ""
    server.last_seen_at = server.checked_at = now
    columns = ["version", "reachable", "down_since", "last_error", "last_seen_at", "checked_at", "left_out"]
    server.save(update_fields=columns)


def _mark_offered(row: McpTool, definition: JSON, digest: str, now: datetime) -> None:
    if digest == row.digest:
        row.waiting, row.waiting_digest, row.waiting_since = None, "", None
    elif digest != row.waiting_digest:
        row.waiting, row.waiting_digest, row.waiting_since = definition, digest, now
