"""Declares the team's switches, each once, with the questions that the rest of the code asks of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

TextFormats = Literal["measured", "all", "off"]
Drift = Literal["off", "ask", "auto"]
FirstUse = Literal["test", "leave_out", "refuse"]

ON_OFF = {"on": True, "off": False}


@dataclass(frozen=True, slots=True)
class SwitchText:
    """The label of a switch, its help text, its choices (form value → label), its line in the reference."""

    title: str
    meaning: str
    choices: Mapping[str, str]
    reference: str


def _text(title: str, meaning: str, choices: Mapping[str, str], reference: str) -> dict[str, SwitchText]:
    return {"text": SwitchText(title, meaning, choices, reference)}


@dataclass(frozen=True, slots=True)
class TeamSwitches:
    """The current values of the switches; callers use the properties, which apply the precedence between them.

    No switch changes stored values, people's decisions, approvals of tools, or the rule that tools never reach a model
    that is not known to support them. The settings page lists them in this order.
    """

    filter_only: bool = field(
        default=False,
        metadata=_text(
            "Only filter tools",
            "No questions, tests, learning or tool substitution. Stored values stay in force, and tools are sent only"
            " to models known to accept them.",
            {"off": "No", "on": "Yes"},
            "No questions, tests, learning or tool substitution; stored values stay in force.",
        ),
    )
    text_formats: TextFormats = field(
        default="measured",
        metadata=_text(
            "Calls written as text",
            "For models without native tools: the model writes calls in its answer. Calls written as code have"
            " their own switch.",
            {"measured": "Where a test found that it works", "all": "For all models", "off": "Never"},
            "Calls written as text: where a test found a format that works, for all models, never.",
        ),
    )
    code_mode: bool = field(
        default=True,
        metadata=_text(
            "Calls written as code",
            "A model may write code that calls the tools. Needs the tool `python_execution` as well.",
            {"on": "Allowed", "off": "Never"},
            "Calls written as code, where `python_execution` is enabled.",
        ),
    )
    force: bool = field(
        default=True,
        metadata=_text(
            "Constrained output",
            "Where a test showed that the server enforces a schema. A call that cannot be read or does not fit is"
            " requested again under its schema; a required call is requested under it at once.",
            {"on": "Allowed", "off": "Never"},
            "Constrain calls to their schema, where a test showed that the server enforces it.",
        ),
    )
    runtime_learning: bool = field(
        default=True,
        metadata=_text(
            "Learning from refusals",
            "When a server refuses tools during an answer, ask whether to save that. The answer continues without tools"
            " either way.",
            {"on": "Ask", "off": "Do not ask"},
            "Ask whether to save that a server refused tools.",
        ),
    )
    drift: Drift = field(
        default="ask",
        metadata=_text(
            "When a tested model has changed",
            "A new build may behave differently from the tested one.",
            {"ask": "Ask for a new test", "auto": "Test again when the server is idle", "off": "Do nothing"},
            "When a tested model has changed: do nothing, offer a new test, test again when its server is idle.",
        ),
    )
    first_use: FirstUse = field(
        default="test",
        metadata=_text(
            "First use by a program",
            "When a program sends tools to a model without a test. With a test first, the answer waits up to 10 s for"
            " it, and for the model to load.",
            {
                "test": "Test the model first",
                "leave_out": "Answer without the tools",
                "refuse": "Refuse the request (409)",
            },
            "When a program sends tools to a model that was never tested: test it first, answer without the tools, or"
            " refuse with 409.",
        ),
    )
    only_validated_fallbacks: bool = field(
        default=False,
        metadata=_text(
            "Fallback models",
            "When a model cannot answer, one of its fallback models does: any of them, or only those that passed an"
            " exam on their current build. Each model can differ.",
            {"off": "All may answer", "on": "Only those that passed an exam"},
            "Use only fallback models that passed an exam on their current build.",
        ),
    )
    tools_notice: bool = field(
        default=False,
        metadata=_text(
            "Mention in the answer that tools were left out",
            "An answer to a program begins with a sentence that the program's tools were left out, and why."
            " Answers in a required format never have it. The headers of the answer always name the reason.",
            {"off": "No", "on": "Yes"},
            "Begin answers to programs whose tools were left out with a sentence about it.",
        ),
    )
    startup_refresh: bool = field(
        default=True,
        metadata=_text(
            "Refresh at start",
            "Refresh the models of every server when the site starts.",
            {"on": "Yes", "off": "No"},
            "List the models of every server at start.",
        ),
    )

    @property
    def asks_about_models(self) -> bool:
        """Whether people are asked about the capabilities of an unknown model."""
        return not self.filter_only

    @property
    def detects(self) -> bool:
        """Whether models may be tested."""
        return not self.filter_only

    @property
    def learns(self) -> bool:
        """Whether a refusal during an answer leads to a question and to a stored claim.

        The answer itself continues without tools either way.
        """
        return self.runtime_learning and not self.filter_only

    @property
    def translates(self) -> bool:
        """Whether one tool may replace another, or a refusal in text lead to another offer."""
        return not self.filter_only

    @property
    def allows_text_formats(self) -> bool:
        """Whether calls may be written as text at all; code is not meant."""
        return self.text_formats != "off" and not self.filter_only

    def allows_text_format(self, works: bool) -> bool:
        """Whether calls may be written as text; `works`: a test or a person confirmed that it works."""
        return self.allows_text_formats and (works or self.text_formats == "all")

    @property
    def allows_code_mode(self) -> bool:
        """Whether a model may write code that calls tools; the tool that runs it must be enabled as well."""
        return self.code_mode and not self.filter_only

    def allows_code(self, works: bool) -> bool:
        """Whether calls may be written as code by this model; with text off, still where it `works`."""
        return self.allows_code_mode and (works or self.text_formats == "all")

    @property
    def forces(self) -> bool:
        """Whether replies may be constrained to a schema, where the server enforces one."""
        return self.force and not self.filter_only

    @property
    def on_first_use(self) -> FirstUse:
        """The reaction to tools that a program sends to a model that was never tested."""
        return "leave_out" if self.first_use == "test" and not self.detects else self.first_use

    @property
    def on_drift(self) -> Drift:
        """The reaction to a change of a tested model: nothing, a question, or a new test when there is time."""
        return "off" if self.filter_only else self.drift


@dataclass(frozen=True, slots=True)
class Switch:
    """The declaration of one switch. `values` maps its choices from form value to stored value."""

    name: str
    default: Any
    text: SwitchText

    @property
    def values(self) -> Mapping[str, Any]:
        return ON_OFF if isinstance(self.default, bool) else {choice: choice for choice in self.text.choices}

    @property
    def variable(self) -> str:
        """The environment variable that has precedence over the settings page."""
        return f"TOOLSUPPORT_{self.name.upper()}"

    def valid(self, value: Any) -> bool:
        # True == 1 in Python, so the type is compared as well.
        return any((type(value), value) == (type(one), one) for one in self.values.values())

    def written(self, value: Any) -> str:
        """Return a stored value as it appears in a form."""
        return next(choice for choice, meant in self.values.items() if meant == value)


SWITCHES = tuple(Switch(one.name, one.default, one.metadata["text"]) for one in fields(TeamSwitches))
