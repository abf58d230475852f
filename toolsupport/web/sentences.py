"""Turns codes that rows keep into words for pages."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from toolsupport.core import format_choice
from toolsupport.detection import DETECTORS

# A key of core.outcomes.CODES → the behaviour of the model or its server in one trial.
OUTCOMES: Mapping[str, str] = MappingProxyType(
    {
        "right": "As expected",
        "no_call": "Called nothing",
        "in_text": "Wrote the call as text",
        "malformed": "Wrote an unreadable call",
        "unknown_tool": "Called a tool that was not offered",
        "wrong_arguments": "Called with the wrong arguments",
        "not_copied": "Did not copy the text of the result",
        "only_one": "Made one call instead of two",
        "called_for_nothing": "Called a tool without need",
        "refused": "The server refused the tools",
        "misconfigured": "The server needs a setting for tools",
        "via_bash": "Used the shell for the same result",
        "denied": "Refused to use the tool",
        "unsaid": "The server does not show it",
        "no_word": "The answer was empty",
        "none_made": "Nothing was called",
        "proves_nothing": "Inconclusive",
        "cut": "The answer was cut",
        "timeout": "No answer in time",
        "connection_cut": "The connection was cut",
        "unenforced": "The server did not enforce the schema",
        "pattern_dropped": "The server did not enforce the pattern",
        "failed": "The server failed",
    }
)


def outcome(code: str) -> str:
    """Return the words for the outcome of a trial; an unknown code of an old row is shown in plain words."""
    return OUTCOMES.get(code) or code.replace("_", " ").capitalize()


def step(name: str) -> str:
    """Return the name of a step of a test; one of earlier versions is shown in plain words."""
    return DETECTORS[name].title if name in DETECTORS else name.replace("_", " ").capitalize()


def family_value(value: str) -> str:
    """Return the words for a value of a family: a call format, a style of prompts or a grade."""
    return format_choice.label(value).replace("_", " ")
