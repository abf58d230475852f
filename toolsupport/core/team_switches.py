"""What the team has switched off, as the answers that the rest of the code asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

TextFormats = Literal["measured", "all", "off"]
Drift = Literal["off", "ask", "auto"]


@dataclass(frozen=True, slots=True)
class TeamSwitches:
    """The switches as they are set; whoever acts on one asks the properties, which know what outranks what.

    None of them touches what is stored, what a person decides by hand, approvals of tools, or the rule that tools
    never reach a model that is not known to take them.
    """

    filter_only: bool = False
    text_formats: TextFormats = "measured"
    code_mode: bool = True
    runtime_learning: bool = True
    drift: Drift = "ask"
    startup_refresh: bool = True

    @property
    def asks_about_models(self) -> bool:
        """Whether people are asked what an unknown model can do."""
        return not self.filter_only

    @property
    def detects(self) -> bool:
        """Whether models may be tested."""
        return not self.filter_only

    @property
    def learns(self) -> bool:
        """Whether a refusal in a running answer leads to a question, and to something being written down.

        The answer itself goes on without tools either way.
        """
        return self.runtime_learning and not self.filter_only

    @property
    def translates(self) -> bool:
        """Whether one tool may be served by another, or a refusal in words be answered with another offer."""
        return not self.filter_only

    def allows_text_format(self, works: bool) -> bool:
        """Whether calls may be written as text; `works` says that a test or a person found that they arrive."""
        allowed = {"off": False, "measured": works, "all": True}
        return allowed[self.text_formats] and not self.filter_only

    @property
    def allows_code_mode(self) -> bool:
        """Whether a model may write code that calls tools; the tool that runs it has to be enabled besides."""
        return self.code_mode and not self.filter_only

    @property
    def on_drift(self) -> Drift:
        """What is done when a tested model has changed: nothing, a question, or a new test when there is time."""
        return "off" if self.filter_only else self.drift
