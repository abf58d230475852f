"""Defines the outcome of one trial of a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from toolsupport.core.sentences import sentence

# Result of one trial → whether the model passed; None if the trial proves nothing about the model.
CODES: Mapping[str, bool | None] = MappingProxyType(
    {
        "right": True,
        "no_call": False,
        "in_text": False,
        "malformed": False,
        "unknown_tool": False,
        "wrong_arguments": False,
        "not_copied": False,
        "only_one": False,
        "called_for_nothing": False,
        "unenforced": False,
        "pattern_dropped": False,
        "refused": False,
        "misconfigured": None,
        "via_bash": True,
        "denied": False,
        "unsaid": None,
        "no_word": None,
        "none_made": None,
        "proves_nothing": None,
        "cut": None,
        "timeout": None,
        "connection_cut": None,
        "failed": None,
    }
)


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """The outcome of one trial. `code` is a key of CODES, `subject` the text format or the tool under test.

    `think` is the setting of the request: True, False, or None if the server chose. `thought`: the model thought.
    """

    step: str
    code: str
    why: str = ""
    streamed: bool = True
    subject: str = ""
    flag: str = ""
    think: bool | None = None
    thought: bool = False

    @property
    def passed(self) -> bool | None:
        return CODES[self.code]


def of_step(outcomes: Iterable[TrialOutcome], step: str, subject: str = "") -> list[TrialOutcome]:
    """Return the outcomes of one step, or of one subject within it."""
    return [outcome for outcome in outcomes if outcome.step == step and subject in ("", outcome.subject)]


def counting(outcomes: Iterable[TrialOutcome]) -> list[TrialOutcome]:
    """Return the outcomes that prove something about the model."""
    return [outcome for outcome in outcomes if outcome.passed is not None]


def subjects(outcomes: Iterable[TrialOutcome], step: str) -> list[str]:
    """Return the subjects of a step, each once, in order."""
    return list(dict.fromkeys(outcome.subject for outcome in outcomes if outcome.step == step and outcome.subject))


def share(tried: Sequence[TrialOutcome]) -> str:
    """Return `2 of 3`: how many of the outcomes passed."""
    return sentence("share", **tally(tried))


def tally(tried: Sequence[TrialOutcome]) -> dict[str, int]:
    """Return the same as parameters of a sentence."""
    return {"right": sum(bool(outcome.passed) for outcome in tried), "tried": len(tried)}
