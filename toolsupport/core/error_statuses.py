"""Maps each error class to its HTTP status, code and websocket close code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from toolsupport.core.errors import Busy, ConfigError, Conflict, NotAllowed, NotFound, QuotaSpent, StorageUnavailable

CLOSED = 4000  # the first close code of a websocket for applications


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """`status` is the HTTP status, `code` the code in the APIs' JSON, `frame` that of a websocket's error frame."""

    status: int
    code: str
    frame: str

    @property
    def close(self) -> int:
        """The code with which the websocket is closed."""
        return CLOSED + self.status


# An address whose answers had another code before this table names that code itself.
ERRORS: Mapping[type[Exception], ErrorRow] = MappingProxyType(
    {
        NotFound: ErrorRow(404, "not_found", "not_found"),
        NotAllowed: ErrorRow(403, "not_allowed", "forbidden"),
        Busy: ErrorRow(429, "busy", "busy"),
        # OpenAI's code, after which programs stop instead of trying again.
        QuotaSpent: ErrorRow(429, "insufficient_quota", "quota"),
        StorageUnavailable: ErrorRow(503, "storage", "storage"),
        Conflict: ErrorRow(409, "conflict", "conflict"),
        # A server's settings are at fault, and no change of the request would help.
        ConfigError: ErrorRow(502, "not_configured", "not_configured"),
    }
)
KINDS = tuple(ERRORS)


def row_of(error: Exception) -> ErrorRow:
    """Return the row of an error or of its nearest base class. Raises KeyError for any other error."""
    for kind in type(error).__mro__:
        if kind in ERRORS:
            return ERRORS[kind]
    raise KeyError(type(error).__name__)
