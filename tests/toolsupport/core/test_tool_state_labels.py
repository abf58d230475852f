"""Four states, each with its words."""

from __future__ import annotations

import pytest

from toolsupport.core.resolve import OverrideRow, resolve
from toolsupport.core.tool_state_labels import STATES, state_word, tools_word
from toolsupport.core.types import Capabilities, Capability


def known(tools: bool | None, source: str, text_format: str | None = None) -> Capabilities:
    tools_said = Capability("tools", tools, source, "")
    return Capabilities({"tools": tools_said, "format": Capability("format", text_format, source, "")})


# M7, D4
SAID = [
    (True, "auto_detected", None, "tested", "Tools ✓ tested", "Enabled"),
    (True, "user_confirmed", None, "tested", "Tools ✓ confirmed", "Enabled"),
    (True, "session", None, "tested", "Tools ✓ this chat", "Enabled"),
    (True, "declared", None, "tested", "Tools ✓ declared", "Enabled"),
    (True, "profile", None, "tested", "Tools ✓ profile", "Enabled"),
    (True, "auto_detected_stale", None, "tested", "Tools ✓ tested on an older build", "Enabled"),
    (True, "auto_detected", "hermes", "tested", "Tools ✓ tested", "Enabled"),
    (False, "auto_detected", "hermes", "text", "Tools ~ text mode", "Text mode"),
    (False, "profile", None, "off", "Tools – off", "Disabled"),
    (False, "session", "", "off", "Tools – off", "Disabled"),
    (None, "default", None, "unknown", "Tools ? untested", "Unknown"),
    (None, "default", "hermes", "unknown", "Tools ? untested", "Unknown"),
]


@pytest.mark.parametrize(("tools", "source", "text_format", "state", "chip", "notice"), SAID)
def test_the_words(
    tools: bool | None, source: str, text_format: str | None, state: str, chip: str, notice: str
) -> None:
    capabilities = known(tools, source, text_format)
    assert state_word(capabilities) == (state, chip)
    assert tools_word(capabilities) == notice


def test_each_state_is_said_somewhere_in_the_table() -> None:
    assert {case[3] for case in SAID} == set(STATES)


def test_only_what_was_measured_is_called_tested() -> None:
    claims = [OverrideRow(1, 1, "tools", True, "declared", build_key="now")]
    assert state_word(resolve(None, claims, "now"))[1] == "Tools ✓ declared"
    claims.append(OverrideRow(2, 2, "tools", True, "auto_detected", build_key="now"))
    assert state_word(resolve(None, claims, "now"))[1] == "Tools ✓ tested"
