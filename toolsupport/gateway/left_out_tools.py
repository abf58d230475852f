"""Begins an answer with a sentence if the tools of its request were left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from toolsupport.core.events import Event, TextDelta, TextReclassified
from toolsupport.gateway.request_summary import RequestSummary

LEFT_OUT = "The tools of this request were left out"
REASONS: Mapping[str, str] = MappingProxyType(
    {
        "unknown": ": no test shows yet whether this model can call tools",
        "unsupported": ": this model cannot call tools",
        "refused": ": its server refused them",
        "misconfigured": ": its server lacks a setting for tools",
        "tool_choice": ": the options of this model exclude calls",
    }
)


def sentence(rule: str) -> str:
    """Return the sentence for the rule that kept the tools out."""
    return f"{LEFT_OUT}{REASONS.get(rule, '')}."


@dataclass(slots=True)
class LeftOutNotice:
    """Adds the sentence to the first words of one answer. `wanted` False changes nothing."""

    wanted: bool
    tally: RequestSummary
    _added: str = ""
    _begun: bool = False

    def added_to(self, batch: list[Event]) -> list[Event]:
        """Return the events with the sentence before the text. The reason is known when the text begins."""
        return [self._one(event) for event in batch] if self.wanted else batch

    def _one(self, event: Event) -> Event:
        if not isinstance(event, TextDelta | TextReclassified):
            return event
        if not self._begun:
            self._begun = True
            self._added = f"{sentence(self.tally.left_out)}\n\n" if self.tally.left_out else ""
            return replace(event, text=self._added + event.text)
        # The text was reasoning after all: the whole answer is sent, with its first sentence.
        return replace(event, text=self._added + event.text) if isinstance(event, TextReclassified) else event
