"""Formats log records as a line of text or a JSON object, without secrets."""

from __future__ import annotations

import json
import logging
from contextvars import ContextVar
from datetime import UTC, datetime

from toolsupport.core.redaction import redact

# The request that is being answered here, "" outside one.
request_id: ContextVar[str] = ContextVar("request_id", default="")

_ORDINARY = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "request", "server_time"}


class ClientFaults(logging.Filter):
    """Reduces a client's fault to one line: the request log has its status, Django's line adds the reason."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("django.security."):
            record.exc_info, record.exc_text, record.levelno, record.levelname = None, None, logging.WARNING, "WARNING"
        return record.name != "django.request" or getattr(record, "status_code", 500) >= 500


class TextFormatter(logging.Formatter):
    """Text for people: time, level, logger, message, and the request's id if there is one."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}", style="{")

    def format(self, record: logging.LogRecord) -> str:
        number = request_id.get()
        return redact(super().format(record) + (f" [{number}]" if number else ""))


class JsonFormatter(logging.Formatter):
    """JSON for machines: time, level, logger, message, request, the `extra` fields, traceback."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request": request_id.get(),
            **_extra(record),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps({name: _clean(value) for name, value in line.items() if value != ""}, ensure_ascii=False)


def _extra(record: logging.LogRecord) -> dict[str, object]:
    """Return the extra fields with plain values; the text of an object could contain anything."""
    given = {name: value for name, value in vars(record).items() if name not in _ORDINARY}
    return {name: value for name, value in given.items() if isinstance(value, str | int | float | bool)}


def _clean(value: object) -> object:
    return redact(value) if isinstance(value, str) else value
