"""Labels for the state of a model's tools: on the chip of the picker, in a notice."""

from __future__ import annotations

from toolsupport.core.override_sources import SOURCES
from toolsupport.core.types import Capabilities

# State → the sign of the chip, its word, the word of a notice. Where tools work, the chip says who says so.
STATES = {
    "tested": ("✓", "", "Enabled"),
    "text": ("~", "text mode", "Text mode"),
    "unknown": ("?", "untested", "Unknown"),
    "off": ("–", "off", "Disabled"),
}


def state_word(capabilities: Capabilities) -> tuple[str, str]:
    """One of STATES with the words of its chip: ("tested", "Tools ✓ tested").

    Where nobody measured it, the words say whose claim it is: "Tools ✓ declared".
    """
    state = _state(capabilities)
    sign, word, _ = STATES[state]
    return state, f"Tools {sign} {word or SOURCES[capabilities['tools'].source].word}"


def tools_word(capabilities: Capabilities) -> str:
    """What a notice says of tools: Enabled, Disabled, Text mode or Unknown, as in `Tools: Disabled (profile)`."""
    return STATES[_state(capabilities)][2]


def _state(capabilities: Capabilities) -> str:
    tools = capabilities["tools"]
    if tools.value is True:
        return "tested"
    if not tools.known:
        return "unknown"
    return "text" if capabilities["format"].value else "off"
