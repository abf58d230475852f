"""Every error that a request or a frame can meet has one status, one code and one close code."""

from __future__ import annotations

import pytest

from chat.broadcast import error_codes
from toolsupport.core import errors
from toolsupport.core.error_statuses import ERRORS, row_of
from toolsupport.core.errors import Busy, ConfigError, Conflict, NotAllowed, NotFound, QuotaSpent, UnreadableSecret

WANTED = [
    (NotFound("x"), 404, "not_found", "not_found", 4404),
    (NotAllowed("x"), 403, "not_allowed", "forbidden", 4403),
    (Busy("x", "tests"), 429, "busy", "busy", 4429),
    (QuotaSpent("x", 60), 429, "insufficient_quota", "quota", 4429),
    (Conflict("x", "now"), 409, "conflict", "conflict", 4409),
    (ConfigError("x"), 502, "not_configured", "not_configured", 4502),
    (UnreadableSecret("x"), 502, "not_configured", "not_configured", 4502),
]
# They have the row of their base.
DERIVED = {"UnreadableSecret"}
# They become events or results of a tool before they could reach a request.
INSIDE = {"ToolsupportError", "ProviderError", "Unreachable", "RequestRefused", "GarbledReply", "ToolError", "Lost"}


@pytest.mark.parametrize(("error", "status", "code", "frame", "close"), WANTED)
def test_an_error_has_one_row(error: Exception, status: int, code: str, frame: str, close: int) -> None:
    row = row_of(error)
    assert (row.status, row.code, row.frame, row.close) == (status, code, frame, close)


def test_a_derived_error_has_the_row_of_its_base() -> None:
    class Narrow(NotFound):
        pass

    assert row_of(Narrow("x")) is ERRORS[NotFound]


def test_what_is_no_error_of_ours_has_none() -> None:
    with pytest.raises(KeyError):
        row_of(ValueError("x"))


def test_no_error_is_forgotten() -> None:
    found = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, Exception)]
    assert {one.__name__ for one in found} == INSIDE | DERIVED | {one.__name__ for one in ERRORS}


def test_the_codes_of_frames_are_known_to_pages() -> None:
    assert {row.frame for row in ERRORS.values()} <= set(error_codes.ERRORS)
