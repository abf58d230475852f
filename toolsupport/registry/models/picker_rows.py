"""Defines the rows of the model picker."""

from __future__ import annotations

from dataclasses import dataclass

from toolsupport.core.evidence_state import UNPROVEN, ModelEvidence


@dataclass(frozen=True, slots=True)
class ShownModel:
    """A row of the model picker.

    `known`: whether it has native tools is known, by evidence or by a claim. `tools_word` is the word in the chat:
    Enabled, Disabled, Text mode or Unknown. `why_not` is the reason why it cannot be used now with advice, "" if it
    can; `trouble` is the reason in a word or two. `about` describes a simulated model's behaviour, "" for others.
    """

    id: int
    name: str
    server: str
    size: str
    loaded: bool
    simulated: bool
    evidence: ModelEvidence
    known: bool
    tools_word: str
    source: str
    reason: str
    context: str = ""
    server_id: int = 0
    server_status: str = ""
    vision: bool = False
    reachable: bool | None = True
    why_not: str = ""
    gone: bool = False
    trouble: str = ""
    about: str = ""

    @property
    def older(self) -> bool:
        """Whether it was tested on another build than the running one."""
        return self.evidence.older

    @property
    def tested(self) -> bool:
        """Whether its tools were measured, on this build or on an older one."""
        return self.older or bool(self.evidence.test)

    @property
    def worth_testing(self) -> bool:
        """Whether tools are withheld only because of a claim, or because support is unknown."""
        return self.evidence.state in UNPROVEN and self.tools_word in ("Disabled", "Unknown")
