"""A model as people choose it: the row of the picker."""

from __future__ import annotations

from dataclasses import dataclass

from toolsupport.core.override_sources import SOURCES


@dataclass(frozen=True, slots=True)
class ShownModel:
    """A row of the model picker. `state` is tested, text, unknown or off (four looks and words).

    `tools_word` is what the chat says of it: Enabled, Disabled, Text mode or Unknown. `why_not` says why it cannot
    be used now with what to do about it, "" where it can. `about` says what a simulated model does, "" for others.
    `trouble` is the same in a word or two. `older` says that it was tested on another build than the one that runs now.
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
        """Whether what is known of its tools was measured, on this build or on an older one."""
        return self.source_letter == SOURCES["auto_detected"].letter

    @property
    def worth_testing(self) -> bool:
        """Whether tools are not offered only because somebody claims so, or nobody knows: a test would tell."""
        claimed = ("declared", "profile", "default")
        return self.state in ("off", "unknown") and self.source_letter in {SOURCES[name].letter for name in claimed}
