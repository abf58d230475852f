"""Returns the word for a model's tools in a notice, such as `Tools: Disabled (profile)`."""

from __future__ import annotations

from toolsupport.core.types import Capabilities


def tools_word(capabilities: Capabilities) -> str:
    """Return Enabled, Disabled, Text mode or Unknown. The state with its evidence is in evidence_state."""
    tools = capabilities["tools"]
    if tools.value is True:
        return "Enabled"
    if not tools.known:
        return "Unknown"
    return "Text mode" if capabilities["format"].value else "Disabled"
