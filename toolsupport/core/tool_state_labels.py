"""Returns the word for a model's tools in a notice, such as `Tools: Disabled (profile)`."""

from __future__ import annotations

from toolsupport.core.sentences import sentence
from toolsupport.core.types import Capabilities


def tools_word(capabilities: Capabilities) -> str:
    """Return Enabled, Disabled, Text mode or Unknown. The state with its evidence is in evidence_state."""
    tools = capabilities["tools"]
    if tools.value is True:
        return sentence("tools_enabled")
    if not tools.known:
        return sentence("tools_unknown")
    return sentence("tools_as_text" if capabilities["format"].value else "tools_disabled")
