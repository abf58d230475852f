"""Writes the results of an exam: shares by format and group, the verdict, and the sentences for grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolsupport.core import sentence_codes, spreadsheet
from toolsupport.core.exams.cases import GROUPS
from toolsupport.core.exams.estimates import (
    FAILED,
    INCONCLUSIVE,
    PASSED,
    ExamEstimate,
    GroupShare,
    TrialGrade,
    estimate,
)
from toolsupport.core.exams.grading import CaseGrade
from toolsupport.core.quote_foreign_text import quoted
from toolsupport.core.sentences import SENTENCES as REASONS
from toolsupport.core.types import JSON

COLUMNS = ("id", "group", "format", "right", "trials", "why", "settings_left_out")
VERDICTS: Mapping[str, str] = {"passed": "Passed", "failed": "Failed", "inconclusive": "Inconclusive"}
# The code of a grade → its sentence; the names in braces are its facts.
SENTENCES: Mapping[str, str] = {
    "right": "Passed.",
    "no_call": "No call was made; {tool} was expected.",
    "called_for_nothing": "{tool} was called; no call was expected.",
    "wrong_tool": "{tool} was called instead of {expected}.",
    "wrong_argument": "{tool}: the argument {argument} was {made}; {expected} was expected.",
    "missing_call": "The call of {tool} is missing.",
    "further_call": "{tool} was called once too often.",
    "wrong_order": "The calls came in the wrong order.",
    "one_by_one": "{first} of {expected} calls came in the first reply; all of them were expected at once.",
    "wrong_answer": "The answer is wrong.",
    "no_answer": "There was no answer.",
    "unreadable": "A call could not be used: {reason}",
    "endless": "The model did not stop calling.",
    "not_swapped": "Not graded: {model} did not begin with a right call, so its call could not be handed over.",
    "cut": "The reply was cut: {reason}",
    "timeout": "Not graded: {reason}",
    "refused": "Not graded: the server refused the tools. {reason}",
    "failed": "Not graded: {reason}",
}


def not_graded(grade: CaseGrade) -> str:
    """Return why a trial shows nothing about the model: the stored reason, else the sentence of the grade."""
    reason = grade.facts.get("reason")
    if isinstance(reason, str) and reason:
        return f"The server refused the tools: {quoted(reason)}." if grade.code == "refused" else reason
    return f"{sentence(grade.code, grade.facts).strip().rstrip(':.')}."


def stored(facts: JSON) -> JSON:
    """Return the facts of a grade as a row holds them: the reason by its code."""
    reason = facts.get("reason")
    return {**facts, "reason": sentence_codes.encoded(reason)} if isinstance(reason, str) else facts


def sentence(code: str, facts: JSON) -> str:
    """Return the sentence of a grade."""
    reason = facts.get("reason")
    facts = {**facts, "reason": REASONS.decoded(reason)} if isinstance(reason, str) else facts
    shown = {name: _shown(value) for name, value in facts.items()}
    return SENTENCES.get(code, code).format_map(_Facts(shown))


class _Facts(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return "nothing"


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


def concluded(found: Mapping[str, Sequence[TrialGrade]], used: Mapping[str, str], failing: str) -> tuple[str, JSON]:
    """Return the verdict of a run and its detail for the row: `formats` by the format that was asked for.

    Several formats: passed if one passed, failed if all failed. `failing` is why the server ended it, "" otherwise.
    """
    estimates = {asked: estimate(grades) for asked, grades in found.items()}
    verdicts = {one.verdict for one in estimates.values()}
    verdict = PASSED if PASSED in verdicts else FAILED if verdicts == {FAILED} else INCONCLUSIVE
    detail: JSON = {
        "formats": {asked: {"used": used.get(asked, asked), **_estimate(one)} for asked, one in estimates.items()},
    }
    if failing:
        detail["failing"] = failing
    return (INCONCLUSIVE if failing else verdict), detail


def parts(detail: JSON) -> list[JSON]:
    """Return the result of each format of a run, with its share and interval in percent."""
    return [
        {
            **part,
            "verdict_words": VERDICTS[part["verdict"]],
            "percent": round(100 * part["score"]),
            "low": round(100 * part["interval"][0]),
            "high": round(100 * part["interval"][1]),
            "failed_words": [GROUPS.get(name, name) for name in part["failed_groups"]],
        }
        for part in detail.get("formats", {}).values()
    ]


def group_rows(detail: JSON) -> list[JSON]:
    """Return the shares of a run as table rows: `{"group", "words", "cells": [share or None for each format]}`."""
    parts = detail.get("formats", {})
    names = [name for name in GROUPS if any(name in part["groups"] for part in parts.values())]
    return [
        {"group": name, "words": GROUPS[name], "cells": [part["groups"].get(name) for part in parts.values()]}
        for name in names
    ]


def as_csv(found: JSON) -> str:
    """Return the cases of a result (as exam_reports.to_json gives it) as CSV."""
    cases = [{**case, "settings_left_out": " ".join(case["settings_left_out"])} for case in found["cases"]]
    rows = [[found["model"], found["suite"], *(case[name] for name in COLUMNS)] for case in cases]
    return spreadsheet.lines([["model", "exam", *COLUMNS], *rows])


def _estimate(found: ExamEstimate) -> JSON:
    return {
        "verdict": found.verdict,
        **_share(found.total),
        "unknown": found.unknown,
        "failed_groups": list(found.failed_groups),
        "groups": {group: _share(share) for group, share in found.groups.items()},
    }


def _share(share: GroupShare) -> JSON:
    return {
        "right": share.right,
        "trials": share.trials,
        "score": round(share.share, 4),
        "interval": [round(share.low, 4), round(share.high, 4)],
    }
