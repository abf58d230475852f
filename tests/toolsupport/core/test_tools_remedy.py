"""Which click is offered where a chat is without tools: a table over the causes."""

from __future__ import annotations

from typing import Any

from tests.tables import every
from toolsupport.core.tools_remedy import SWITCH_ON, TEST, USE_AGAIN, ChatToolState, remedy
from toolsupport.core.types import Capabilities, Capability

UNKNOWN: tuple[Any, str] = (None, "default")
# (native tools, text format, the chat's state) → the click.
ROWS: dict[str, tuple[tuple[Any, str], tuple[Any, str], dict[str, bool], str | None]] = {
    "proven": ((True, "auto_detected"), UNKNOWN, {}, None),
    "a person's yes": ((True, "user_confirmed"), UNKNOWN, {}, None),
    "a person's yes, refused": ((True, "user_confirmed"), UNKNOWN, {"refused": True}, TEST),
    "declared, refused": ((True, "declared"), UNKNOWN, {"refused": True}, TEST),
    "unknown": (UNKNOWN, UNKNOWN, {}, TEST),
    "unknown, no tests here": (UNKNOWN, UNKNOWN, {"may_test": False}, None),
    "declared no": ((False, "declared"), UNKNOWN, {}, TEST),
    "profile no": ((False, "profile"), UNKNOWN, {}, TEST),
    "no of an older build": ((False, "auto_detected_stale"), UNKNOWN, {}, TEST),
    "tested no, formats untried": ((False, "auto_detected"), UNKNOWN, {}, TEST),
    "tested no, formats not allowed": ((False, "auto_detected"), UNKNOWN, {"in_text": False}, None),
    "tested no, formats failed": ((False, "auto_detected"), (False, "auto_detected"), {}, None),
    "text mode": ((False, "auto_detected"), ("hermes", "auto_detected"), {}, None),
    "text mode, unknown native": (UNKNOWN, ("hermes", "user_confirmed"), {}, None),
    "a person's no": ((False, "user_confirmed"), UNKNOWN, {}, None),
    "off for this chat": ((False, "session"), UNKNOWN, {}, USE_AGAIN),
    "off for this chat, no tests here": ((False, "session"), UNKNOWN, {"may_test": False}, USE_AGAIN),
    "the chat's switch": ((True, "auto_detected"), UNKNOWN, {"switched_on": False}, SWITCH_ON),
}


# D5, D9
@every("cause", ROWS)
def test_each_cause_has_its_click(cause: str) -> None:
    tools, text_format, state, wanted = ROWS[cause]
    native, text = Capability("tools", *tools, ""), Capability("format", *text_format, "")
    offered = remedy(Capabilities({"tools": native, "format": text}), ChatToolState("m", **state))
    assert (offered.act if offered else None) == wanted
