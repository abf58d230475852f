"""Keeps the raw exchanges with model servers beside the answers they led to, and reads them for their owner."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any
from uuid import UUID

from chat.models import RawExchange, Turn
from chat.transcript import sql
from toolsupport.core import exchange_text
from toolsupport.core.redaction import redact
from toolsupport.providers.exchange_recorder import RecordedExchange
from toolsupport.registry import raw_sql, row_objects

log = logging.getLogger(__name__)

# Per chat: kept exchanges, and their characters. The oldest are deleted first.
MOST = 20
MOST_CHARACTERS = 2_000_000

PreparedExchanges = tuple[RawExchange, ...]


@dataclass(frozen=True, slots=True)
class ShownExchange:
    """One exchange for people; `status` in words, sizes as they were sent."""

    url: str
    status: str
    started_at: datetime
    duration_ms: int
    times: int
    error: str
    request: str
    request_size: str
    reply: str
    reply_size: str


def prepared(recorded: Sequence[RecordedExchange]) -> PreparedExchanges:
    """Return rows without their place, redacted and bounded.

    It takes processor time, so call it in a thread. It never raises: an answer must not fail because its exchange
    cannot be kept.
    """
    try:
        return tuple(map(_row, recorded[-MOST:]))
    except Exception:
        log.exception("could not prepare raw exchanges to be kept")
        return ()


def _row(recorded: RecordedExchange) -> RawExchange:
    request = exchange_text.request_text(recorded.body, recorded.tools)
    reply = exchange_text.reply_text(recorded.head, recorded.tail, recorded.left_out)
    return row_objects.new(
        RawExchange,
        url=redact(recorded.url),
        request=request,
        request_bytes=len(recorded.body),
        reply=reply,
        reply_bytes=recorded.size,
        status=recorded.status,
        error=redact(recorded.error),
        times=recorded.times,
        characters=len(request) + len(reply),
        started_at=recorded.started_at,
        duration_ms=recorded.duration_ms or 0,
    )


def keep(turn: Turn, message: int, rows: PreparedExchanges) -> None:
    """Write rows for a message of a turn, and delete the oldest of the chat. Part of a larger transaction."""
    if not rows:
        return
    for row in rows:
        row.pk, row.conversation_id, row.message_id = None, turn.conversation_id, message
        raw_sql.insert(row)
    sql.prune_exchanges(turn.conversation_id, MOST, MOST_CHARACTERS)


def of_message(message: int) -> tuple[ShownExchange, ...]:
    """Return the exchanges of one answer, in order; the caller has checked the permission."""
    return tuple(map(_shown, RawExchange.objects.filter(message=message).order_by("id")))


def exported(conversation: UUID) -> tuple[dict[str, Any], ...]:
    """Return all exchanges of one chat for JSON."""
    rows = RawExchange.objects.filter(conversation=conversation).order_by("id")
    return tuple(
        {name: getattr(row, name) for name in EXPORTED}
        | {"message": row.message_id, "started_at": row.started_at.isoformat()}
        for row in rows
    )


EXPORTED = (
    *("url", "status", "error", "times", "duration_ms"),
    *("request", "request_bytes", "reply", "reply_bytes"),
)


def _shown(row: RawExchange) -> ShownExchange:
    return ShownExchange(
        row.url,
        _status(row.status),
        row.started_at,
        row.duration_ms,
        row.times,
        row.error,
        exchange_text.readable(row.request),
        f"{row.request_bytes:,} bytes",
        row.reply,
        f"{row.reply_bytes:,} bytes",
    )


def _status(code: int | None) -> str:
    """Return the status with HTTP's words."""
    if code is None:
        return "no reply"
    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return str(code)
