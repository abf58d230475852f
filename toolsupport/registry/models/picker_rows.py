"""Defines the rows of the model picker."""

from __future__ import annotations

from dataclasses import dataclass

from toolsupport.core.override_sources import SOURCES


@dataclass(frozen=True, slots=True)
class ShownModel:
    """A row of the model picker. `state` is tested, text, unknown or off (four looks and words).

    `tools_word` is the word in the chat: Enabled, Disabled, Text mode or Unknown. `why_not` is the reason why it cannot
    be used now with advice, "" if it can; `trouble` is the reason in a word or two. `about` describes a simulated
    model's behaviour, "" for others. `older`: it was tested on another build than the running one.
    """

    id: int
    name: str
    server: str
    size: str
    loaded: bool
    simulated: bool
    state: str
    state_word: str
    tools_word: str
    source: str
    source_letter: str
    reason: str
    vision: bool = False
    reachable: bool | None = True
    why_not: str = ""
    gone: bool = False
    trouble: str = ""
    about: str = ""
    older: bool = False

    @property
    def tested(self) -> bool:
        """Whether its tool support was measured, on this build or on an older one."""
        return self.source_letter == SOURCES["auto_detected"].letter

    @property
    def worth_testing(self) -> bool:
        """Whether tools are withheld only because of a claim, or because support is unknown."""
        claimed = ("declared", "profile", "default")
        return self.state in ("off", "unknown") and self.source_letter in {SOURCES[name].letter for name in claimed}
