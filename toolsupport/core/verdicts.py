"""Computes the verdict on a model from the outcomes of a test's trials.

A trial that was decided by a dead server, a limit or an empty queue is unfinished: it proves nothing about the model. A
no needs five conclusive trials and none that is unfinished, or eight and one, since the unfinished ones may be those
that called; otherwise the test is inconclusive. A model that can think is tried with thinking on and off; each setting
is judged alone, and tools work if one of them works.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from toolsupport.core import side_findings
from toolsupport.core.formats import FORMATS
from toolsupport.core.outcomes import CODES, TrialOutcome, counting, of_step, share, subjects, tally
from toolsupport.core.sentence_codes import joined
from toolsupport.core.sentences import sentence
from toolsupport.core.trial_counts import (
    FORMAT_EACH_WAY,
    format_flaky,
    format_settled,
    format_works,
    of_format,
    passed,
    streaming_decides,
)

__all__ = [
    "CODES",
    "VERDICTS",
    "TrialOutcome",
    "Verdict",
    "acceptance_settled",
    "format_settled",
    "format_works",
    "judge",
    "sure",
    "switch_ignored",
    "wanted",
]

ENOUGH = 3  # trials of calling that count
ENOUGH_FOR_NO = 5  # where none of them was right: a model that calls two times out of three fails three times in a row
UNFINISHED_SHARE = 9  # a no allows one unfinished trial in so many: where half of all calls are lost, few tests pass
MOST = 9
MOST_EACH_WAY = 16  # trials in all where streaming seems to decide
REFUSALS = 6  # of a greeting with tools, streamed and not: one may come from one of several servers behind an address
GIVE_UP = 5  # inconclusive trials, without a conclusive one
SHARE = (2, 3)  # of the trials of a flaky model must be right for a yes
EACH_WAY = 6  # trials streamed, and as many not streamed, before a difference between them is one of streaming
# A reply that never came to a call: nothing is proved about the model, but with this setting no call was found.
UNFINISHED = ("cut", "timeout")

NAMES = ("native", "text", "flaky", "ignored", "refused", "misconfigured", "inconclusive")
VERDICTS: Mapping[str, str] = {name: sentence(f"verdict_{name}") for name in NAMES}


@dataclass(frozen=True, slots=True)
class Verdict:
    """`name` is a key of VERDICTS, `values` the measured capabilities, `detail` the text of the page."""

    name: str
    reason: str
    values: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    detail: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


def judge(outcomes: Sequence[TrialOutcome]) -> Verdict:
    """Return the verdict on all trials so far."""
    side = side_findings.found(outcomes)
    if not any(outcome.step in MEASURES_CALLING for outcome in outcomes):
        return _alone(outcomes, side)
    native = _native(outcomes)
    if native.name != "native":
        # A model that calls rarely, or not at all, has not refused this tool in particular.
        side = {name: value for name, value in side.items() if value != "refused"}
    works = _text(outcomes)
    if works and native.values.get("tools") is not True:
        values = {**side, **native.values, **works.values}
        detail = {**native.detail, "native": native.name, **works.detail}
        return Verdict("text", joined(native.reason, works.reason), values, detail)
    return Verdict(native.name, native.reason, {**side, **native.values}, native.detail)


def _alone(outcomes: Sequence[TrialOutcome], side: Mapping[str, Any]) -> Verdict:
    """Return the verdict of a test of formats or of single tools, which leaves other capabilities open."""
    works = _text(outcomes)
    if works:
        return Verdict("text", works.reason, {**side, **works.values}, works.detail)
    ways = side_findings.ways(side)
    if any(value in ("native", "via_bash") for value in side.values()):
        return Verdict("native", sentence("tool_ways", ways=ways), side)
    last = next((outcome.why for outcome in reversed(outcomes)), sentence("nothing_tried"))
    why = sentence("tool_ways_open", ways=ways) if ways else last
    return Verdict("inconclusive", why, detail={"why": why})


def sure(outcomes: Sequence[TrialOutcome], think: bool | None = None) -> bool:
    """Return True when more trials with this setting of thinking could not change the verdict, or are too many."""
    made = [outcome for outcome in of_step(outcomes, "called") if outcome.think is think]
    tried, right = counting(made), passed(made)
    if len(made) >= (MOST_EACH_WAY if streaming_decides(made, 3) else MOST) or (not tried and len(made) >= GIVE_UP):
        return True
    if len(tried) < ENOUGH:
        return False
    if right == 0:
        return _enough_for_no(made) or any(outcome.flag for outcome in tried)
    if streaming_decides(made, 1):
        return streaming_decides(made, EACH_WAY)
    return right == len(tried) or (not _may_become_a_yes(right, len(tried)) and _settles(made))


def _settles(made: Sequence[TrialOutcome]) -> bool:
    """Return whether mixed trials can no longer become a yes: they are a verdict already, or prove a no."""
    return _enough_for_no(made) or _is_yes(made)


def _is_yes(made: Sequence[TrialOutcome]) -> bool:
    return passed(made) * SHARE[1] >= len(counting(made)) * SHARE[0]


def _enough_for_no(made: Sequence[TrialOutcome]) -> bool:
    conclusive = len(counting(made))
    return conclusive >= ENOUGH_FOR_NO and (len(made) - conclusive) * UNFINISHED_SHARE <= len(made)


def acceptance_settled(outcomes: Sequence[TrialOutcome]) -> bool:
    """Return True when enough greetings with tools were sent: one accepted, none refused, or all."""
    tries = of_step(outcomes, "accepted", "tools")
    refusals = [outcome for outcome in tries if outcome.code == "refused"]
    taken = any(outcome.code in ("right", "misconfigured") for outcome in tries)
    return taken or len(tries) >= MOST or (len(tries) > 0 and not refusals) or _all_refused(tries)


def _all_refused(tries: Sequence[TrialOutcome]) -> bool:
    refusals = [outcome for outcome in tries if outcome.code == "refused"]
    both_ways = len({outcome.streamed for outcome in refusals}) == 2
    return len(refusals) >= REFUSALS and both_ways and not any(outcome.code == "right" for outcome in tries)


def wanted(step: str, outcomes: Sequence[TrialOutcome]) -> bool:
    """Return whether a step can add anything to the results so far."""
    rule = WANTED.get(step)
    return rule is None or rule(outcomes)


def _accepted(outcomes: Sequence[TrialOutcome]) -> bool:
    return any(outcome.code == "right" and outcome.subject == "tools" for outcome in of_step(outcomes, "accepted"))


def _calls(outcomes: Sequence[TrialOutcome]) -> bool:
    return _native(outcomes).values.get("tools") is True


def _cannot(outcomes: Sequence[TrialOutcome]) -> bool:
    return _native(outcomes).values.get("tools") is False


def _is_alone(outcomes: Sequence[TrialOutcome]) -> bool:
    """Return whether this is a test of formats or of single tools, without native calls."""
    return not of_step(outcomes, "accepted")


def _alive(outcomes: Sequence[TrialOutcome]) -> bool:
    """Return whether the model answered a greeting, if one was sent."""
    return not any(outcome.code in ("failed", "timeout", "connection_cut") for outcome in of_step(outcomes, "loaded"))


def _greets(outcomes: Sequence[TrialOutcome]) -> bool:
    """Return whether the model answered a greeting without tools."""
    return any(outcome.code == "right" and outcome.subject == "bare" for outcome in of_step(outcomes, "accepted"))


WANTED: Mapping[str, Callable[[Sequence[TrialOutcome]], bool]] = {
    "rendered": _accepted,
    "called": _accepted,
    "second_turn": _calls,
    "control": _calls,
    "parallel": _calls,
    "per_tool": lambda outcomes: _alive(outcomes) if _is_alone(outcomes) else _calls(outcomes),
    "constrains": lambda outcomes: _alive(outcomes) if _is_alone(outcomes) else _greets(outcomes),
    "formats": lambda outcomes: _alive(outcomes) if _is_alone(outcomes) else _cannot(outcomes),
}


def _native(outcomes: Sequence[TrialOutcome]) -> Verdict:
    accepted = of_step(outcomes, "accepted")
    for rule in (_misconfigured, _refused, _not_tried):
        found = rule(accepted)
        if found is not None:
            return found
    return _called(outcomes)


def _misconfigured(accepted: Sequence[TrialOutcome]) -> Verdict | None:
    found = next((outcome for outcome in accepted if outcome.code == "misconfigured"), None)
    if found is None:
        return None
    return Verdict("misconfigured", found.why, detail={"flag": found.flag})


def _refused(accepted: Sequence[TrialOutcome]) -> Verdict | None:
    """Refusals count only if the same request without tools was answered, and none with tools was accepted."""
    tries = [outcome for outcome in accepted if outcome.subject == "tools"]
    refusal = next((outcome for outcome in tries if outcome.code == "refused"), None)
    answered = any(outcome.code in ("right", "no_word") and outcome.subject == "bare" for outcome in accepted)
    if refusal is None or not answered or not _all_refused(tries):
        return None
    return Verdict("refused", sentence("tools_refused", why=refusal.why), {"tools": False})


def _not_tried(accepted: Sequence[TrialOutcome]) -> Verdict | None:
    """Return what prevented a trial of the tools. An empty answer to a greeting did not, if the tools were accepted."""
    if any(outcome.code == "right" and outcome.subject == "tools" for outcome in accepted):
        return None
    trouble = next((outcome for outcome in accepted if outcome.passed is None or outcome.code == "refused"), None)
    detail = {"why": trouble.why, "codes": [outcome.code for outcome in accepted]} if trouble else {}
    return Verdict("inconclusive", trouble.why, detail=detail) if trouble else None


def _called(outcomes: Sequence[TrialOutcome]) -> Verdict:
    """Judge thinking on and off apart if both were tried, and the server applied the switch."""
    made = of_step(outcomes, "called")
    if switch_ignored(outcomes):
        return _of_setting(outcomes, made)
    off = [outcome for outcome in made if outcome.think is False]
    on = [outcome for outcome in made if outcome.think is not False]
    if not off or not on:
        return _of_setting(outcomes, made)
    return _of_both(_TrialGroup(on, _of_setting(outcomes, on)), _TrialGroup(off, _of_setting(outcomes, off)))


def switch_ignored(outcomes: Sequence[TrialOutcome]) -> bool:
    """Return whether the model thought in most trials with thinking off: these prove nothing about that setting."""
    off = [outcome for outcome in of_step(outcomes, "called") if outcome.think is False]
    return sum(outcome.thought for outcome in off) * 2 > len(off)


@dataclass(frozen=True, slots=True)
class _TrialGroup:
    """The trials with one setting of thinking, and what they prove on their own."""

    made: Sequence[TrialOutcome]
    verdict: Verdict

    @property
    def calls(self) -> bool:
        return self.verdict.values.get("tools") is True

    @property
    def without_a_call(self) -> bool:
        """Return whether trials with this setting found too few calls; a failure of the server is no trial."""
        unfinished = sum(outcome.code in UNFINISHED for outcome in self.made)
        right = any(outcome.passed for outcome in self.made)
        return self.verdict.values.get("tools") is False or (unfinished >= 2 and not right)

    @property
    def sentence(self) -> str:
        tried = counting(self.made)
        return share(tried) if tried else sentence("nothing_proved", why=self.verdict.reason)


def _of_both(on: _TrialGroup, off: _TrialGroup) -> Verdict:
    """Return the setting of thinking with which calls work: on, off, or both; a no needs both settings measured."""
    best, other = (on, off) if on.calls or not off.calls else (off, on)
    if not best.calls:
        best = next((tried for tried in (on, off) if "tools" not in tried.verdict.values), max(on, off, key=_right))
    values = dict(best.verdict.values)
    if on.calls and off.calls:
        values["tools_thinking"] = "both"
    elif best.calls and other.without_a_call:
        values["tools_thinking"] = "on_only" if best is on else "off_only"
    reason = joined(best.verdict.reason, sentence("thinking_both", on=on.sentence, off=off.sentence))
    detail = {**best.verdict.detail, "thinking": {"on": on.sentence, "off": off.sentence}}
    return Verdict(best.verdict.name, reason, values, detail)


def _right(tried: _TrialGroup) -> int:
    return passed(tried.made)


def _of_setting(outcomes: Sequence[TrialOutcome], made: Sequence[TrialOutcome]) -> Verdict:
    tried, right = counting(made), passed(made)
    detail = {"passed": right, "tried": len(tried), "codes": [outcome.code for outcome in made]}
    leaked = next((outcome for outcome in tried if outcome.flag), None)
    if leaked and right == 0:
        return Verdict("misconfigured", leaked.why, detail={**detail, "flag": leaked.flag})
    if streaming_decides(made, EACH_WAY):
        streams = next(outcome.streamed for outcome in made if outcome.passed)
        code = "called_when_streamed" if streams else "called_when_not_streamed"
        return Verdict("native", sentence(code, **tally(made)), {"tools": True, "streaming": streams}, detail)
    if len(tried) < ENOUGH:
        why = next((outcome.why for outcome in made if outcome.passed is None), sentence("too_few_trials"))
        return Verdict("inconclusive", why, detail={**detail, "why": why})
    return _of_counts(outcomes, made, detail)


def _of_counts(outcomes: Sequence[TrialOutcome], made: Sequence[TrialOutcome], detail: Mapping[str, Any]) -> Verdict:
    tried, right = counting(made), passed(made)
    if right == len(tried):
        streams = {"streaming": True} if side_findings.streams(made, outcomes) else {}
        return Verdict("native", sentence("called_natively", **tally(tried)), {"tools": True, **streams}, detail)
    why = "" if _is_yes(made) else _why_no_is_open(made)
    if why:
        return Verdict("inconclusive", why, detail={**detail, "why": why})
    if right == 0 and all(outcome.code in ("no_call", "in_text") for outcome in tried):
        never = any(outcome.code == "no_call" for outcome in of_step(outcomes, "rendered"))
        why = sentence("not_in_prompt" if never else "never_called")
        return Verdict("ignored", why, {"tools": False}, detail)
    wrong = sorted({outcome.code for outcome in tried if not outcome.passed})
    why = sentence("called_natively_mixed", **tally(tried), wrong=wrong)
    return Verdict("flaky", why, {"tools": _is_yes(made)}, {**detail, "works": _is_yes(made)})


def _why_no_is_open(made: Sequence[TrialOutcome]) -> str:
    """Return why trials without a yes do not prove a no either; "" if they do."""
    if streaming_decides(made, 2):
        return sentence("streaming_open", **tally(made))
    if _enough_for_no(made):
        return ""
    tried = counting(made)
    silent = [outcome for outcome in made if outcome.passed is None]
    if not silent:
        return sentence("too_few_for_no", **tally(tried), least=ENOUGH_FOR_NO)
    return sentence("too_many_open", **tally(tried), silent=len(silent), made=len(made), why=silent[0].why)


def _may_become_a_yes(right: int, tried: int) -> bool:
    return (right + MOST - tried) * SHARE[1] >= MOST * SHARE[0] and right * SHARE[1] < MOST * SHARE[0]


MEASURES_CALLING = ("accepted", "called")


def _text(outcomes: Sequence[TrialOutcome]) -> Verdict | None:
    """Return the first format in which calls arrive, and whether thinking had to be off for it.

    Constrained output is the last resort: it counts where no other format works each time.
    """
    works = [
        (name, think)
        for name in subjects(outcomes, "formats")
        for think in (None, True, False)
        if format_works(outcomes, name, think)
    ]
    sure = [one for one in works if not format_flaky(outcomes, *one)]
    return _of_text(outcomes, *(sure or works)[0]) if works else None


def _of_text(outcomes: Sequence[TrialOutcome], name: str, think: bool | None) -> Verdict:
    made = of_format(outcomes, name, think)
    others = len(made) < len(of_step(outcomes, "formats", name))
    values: dict[str, Any] = {"format": name, **({"tools_thinking": "off_only"} if think is False and others else {})}
    if streaming_decides(made, FORMAT_EACH_WAY):
        values["streaming"] = next(outcome.streamed for outcome in made if outcome.passed)
    written = FORMATS[name].label if name in FORMATS else name
    code = "works_as_text_unthinking" if think is False else "works_as_text"
    counts = {"passed": passed(made), "tried": len(counting(made))}
    return Verdict("text", sentence(code, format=written, **tally(made)), values, {"format": name, **counts})
