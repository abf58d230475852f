"""Returns labels for the state of a model's tools, for the picker's chip and for notices."""

from __future__ import annotations

from toolsupport.core.override_sources import SOURCES
from toolsupport.core.types import Capabilities

# State → the sign of the chip, its word, the word of a notice. Where tools work, the chip names the source.
STATES = {
    "tested": ("✓", "", "Enabled"),
    "text": ("~", "text mode", "Text mode"),
    "unknown": ("?", "untested", "Unknown"),
    "off": ("–", "off", "Disabled"),
}


def state_word(capabilities: Capabilities) -> tuple[str, str]:
    """Return one of STATES with the label of its chip: ("tested", "Tools ✓ tested").

    Without a measurement the label names the source of the claim: "Tools ✓ declared".
    """
    state = _state(capabilities)
    sign, word, _ = STATES[state]
    return state, f"Tools {sign} {word or SOURCES[capabilities['tools'].source].word}"


def tools_word(capabilities: Capabilities) -> str:
    """Return the word for tools in a notice: Enabled, Disabled, Text mode or Unknown, as in `Tools: Disabled
    (profile)`.
    """
    return STATES[_state(capabilities)][2]


def _state(capabilities: Capabilities) -> str:
    tools = capabilities["tools"]
    if tools.value is True:
        return "tested"
    if not tools.known:
        return "unknown"
    return "text" if capabilities["format"].value else "off"
