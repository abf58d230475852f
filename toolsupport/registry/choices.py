"""A model as people choose it: the row of the picker."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShownModel:
    """A row of the model picker. `state` is tested, text, unknown or off (four looks and words).

    `tools_word` is what the chat says of it: Enabled, Disabled, Text mode or Unknown. `why_not` says why it cannot
    be used now with what to do about it, "" where it can. `about` says what a simulated model does, "" for others.
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
    about: str = ""
