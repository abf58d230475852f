"""Decides which one click could give a chat its tools, where its model has none."""

from __future__ import annotations

from dataclasses import dataclass

from toolsupport.core.types import Capabilities

TEST, SWITCH_ON, USE_AGAIN = "test", "switch_on", "use_again"
# Sources of a no that no test of the present build has confirmed and no person has decided, and the sentence of each.
UNPROVED = {
    "declared": "Tools are off: the server claims none for {model}. Never tested.",
    "profile": "Tools are off: the profile of {model} claims none. Never tested.",
    "auto_detected_stale": "Tools are off: {model} was tested on an older build.",
    "default": "Tools are off: {model} is not tested yet.",
}
LABELS = {TEST: "Test it", SWITCH_ON: "Turn tools on", USE_AGAIN: "Use tools again"}


@dataclass(frozen=True, slots=True)
class ChatToolState:
    """The parts of a chat that decide whether its model gets tools.

    `switched_on`: the chat's own switch. `refused`: the server refused tools in the last answer. `may_test`: models may
    be tested here, and this one can be asked now. `in_text`: text formats that a test found to work are allowed.
    """

    model: str
    switched_on: bool = True
    refused: bool = False
    may_test: bool = True
    in_text: bool = True


@dataclass(frozen=True, slots=True)
class ToolsRemedy:
    """A sentence about the missing tools, and the click (TEST, SWITCH_ON or USE_AGAIN) that could give them back."""

    act: str
    text: str

    @property
    def label(self) -> str:
        return LABELS[self.act]


def remedy(known: Capabilities, state: ChatToolState) -> ToolsRemedy | None:
    """Return the click to offer; None if the tools work, or if neither a test nor a click could change it."""
    if not state.switched_on:
        return ToolsRemedy(SWITCH_ON, "Tools are off in this chat.")
    tools, text_format = known["tools"], known["format"]
    if tools.value is False and tools.source == "session":
        return ToolsRemedy(USE_AGAIN, f"Tools are off in this chat for {state.model}.")
    if not state.may_test or (tools.value is not True and text_format.value and state.in_text):
        return None
    why = _worth_a_test(known, state)
    return ToolsRemedy(TEST, why) if why else None


def _worth_a_test(known: Capabilities, state: ChatToolState) -> str:
    """Return why a test could help; "" if it could not."""
    tools, text_format = known["tools"], known["format"]
    if tools.value is True:
        return f"The server refused tools for {state.model} in the last answer." if state.refused else ""
    if tools.value is None:
        return UNPROVED["default"].format(model=state.model)
    if tools.source in UNPROVED:
        return UNPROVED[tools.source].format(model=state.model)
    untried = tools.source == "auto_detected" and text_format.value is None and state.in_text
    return f"Tools are off: no text format was tested with {state.model} yet." if untried else ""
