"""From outcomes to a verdict: what counts, what never does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsupport.core.verdicts import CODES, MOST, VERDICTS, Outcome, judge, sure, wanted

BARE = Outcome("accepted", "right", subject="bare")
TAKEN = Outcome("accepted", "right", subject="tools")
OPEN = (BARE, TAKEN)


def called(*codes: str, streamed: bool | None = None) -> tuple[Outcome, ...]:
    return tuple(
        Outcome("called", code, f"why {code}", n % 2 == 0 if streamed is None else streamed)
        for n, code in enumerate(codes)
    )


def formats(name: str, *codes: str) -> tuple[Outcome, ...]:
    return tuple(Outcome("formats", code, subject=name) for code in codes)


CASES = {  # D6
    "native": ((*OPEN, *called("right", "right", "right")), "native", True),
    "ignored": ((*OPEN, *called("no_call", "no_call", "no_call")), "ignored", False),
    "flaky enough": ((*OPEN, *called(*["right"] * 6, *["no_call"] * 3)), "flaky", True),
    "flaky, too little": ((*OPEN, *called("right", *["no_call"] * 4)), "flaky", False),
    "calls, but never right": ((*OPEN, *called("malformed", "unknown_tool", "not_copied")), "flaky", False),
    "refused": ((BARE, Outcome("accepted", "refused", "no tools", subject="tools")), "refused", False),
    "refused without the bare one": ((Outcome("accepted", "refused", "x", subject="tools"),), "inconclusive", None),
    "a flag is missing": (
        (BARE, Outcome("accepted", "misconfigured", "set --jinja", subject="tools", flag="--jinja")),
        "misconfigured",
        None,
    ),
    "dead server": ((Outcome("accepted", "failed", "no connection", subject="bare"),), "inconclusive", None),
    "died between": ((BARE, Outcome("accepted", "failed", "x", subject="tools")), "inconclusive", None),
    "only timeouts": ((*OPEN, *called(*["timeout"] * MOST)), "inconclusive", None),
    "two right, then gone": ((*OPEN, *called("right", "right", *["failed"] * 7)), "inconclusive", None),
    "left in the text": (
        (*OPEN, *(Outcome("called", "in_text", "set it", flag="--tool-call-parser") for _ in range(3))),
        "misconfigured",
        None,
    ),
    "nothing tried": ((), "inconclusive", None),
}


@pytest.mark.parametrize("name", CASES)
def test_verdicts(name: str) -> None:
    outcomes, verdict, tools = CASES[name]
    judged = judge(outcomes)
    assert (judged.name, judged.values.get("tools")) == (verdict, tools)
    assert judged.name in VERDICTS and (judged.reason or not outcomes)


def test_streaming_is_a_finding_of_its_own() -> None:
    outcomes = (*OPEN, *called("no_call", "right", "no_call", "right"))
    judged = judge(outcomes)
    assert sure(outcomes)
    assert judged.name == "native"
    assert judged.values["streaming"] is False


def test_text_is_a_no_with_a_format() -> None:
    refused = (BARE, Outcome("accepted", "refused", "no tools", subject="tools"))
    judged = judge((*refused, *formats("mistral", "right", "no_call"), *formats("hermes", "right", "right")))
    assert (judged.name, dict(judged.values)) == ("text", {"tools": False, "format": "hermes"})
    assert judge((*refused, *formats("hermes", "right"))).name == "refused"


def test_formats_alone_say_nothing_about_native_tools() -> None:
    judged = judge(formats("hermes", "right", "right"))
    assert (judged.name, dict(judged.values)) == ("text", {"format": "hermes"})
    failed = judge(formats("hermes", "no_call"))
    assert (failed.name, dict(failed.values)) == ("inconclusive", {})


def test_side_findings() -> None:
    native = (*OPEN, *called("right", "right", "right"))
    side = (
        Outcome("second_turn", "not_copied"),
        Outcome("control", "right"),
        Outcome("parallel", "timeout"),
        Outcome("per_tool", "no_call", subject="read_file"),
        Outcome("per_tool", "via_bash", subject="read_file"),
        Outcome("per_tool", "right", subject="write_file"),
        Outcome("per_tool", "no_call", subject="list_directory"),
        Outcome("per_tool", "failed", subject="list_directory"),
    )
    values = judge((*native, *side)).values
    assert values["multi_turn"] is False
    assert values["leaves_alone"] is True
    assert "parallel" not in values
    assert values["tool:read_file"] == "via_bash"
    assert values["tool:write_file"] == "native"
    assert values["tool:list_directory"] == "refused"


def test_it_stops_when_sure() -> None:
    assert not sure((*OPEN, *called("right", "right")))
    assert sure((*OPEN, *called("right", "right", "right")))
    assert not sure((*OPEN, *called("right", "no_call", "right")))
    assert sure((*OPEN, *called("no_call", "right", "no_call", "no_call", "no_call")))
    assert sure((*OPEN, *called(*["timeout"] * MOST)))


def test_what_is_not_needed_is_not_tried() -> None:
    refused = (BARE, Outcome("accepted", "refused", "no tools", subject="tools"))
    native = (*OPEN, *called("right", "right", "right"))
    assert not wanted("called", refused) and wanted("formats", refused) and not wanted("control", refused)
    assert wanted("control", native) and wanted("per_tool", native) and not wanted("formats", native)
    dead = (Outcome("accepted", "failed", "dead", subject="bare"),)
    assert not any(wanted(step, dead) for step in ("called", "control", "formats", "per_tool"))
    assert wanted("formats", ()) and wanted("per_tool", ())


SILENT = [code for code, passed in CODES.items() if passed is None and code != "misconfigured"]
outcome = st.builds(
    Outcome,
    st.sampled_from(["declared", "accepted", "rendered", "called", "second_turn", "control", "parallel", "formats"]),
    st.sampled_from([code for code in CODES if code != "misconfigured"]),
    st.just("why"),
    st.booleans(),
    st.sampled_from(["", "bare", "tools", "hermes"]),
)


@given(st.lists(outcome, max_size=20))
def test_silence_is_never_a_no(outcomes: list[Outcome]) -> None:  # D1, D6
    silent = [Outcome(o.step, SILENT[0], o.why, o.streamed, o.subject) for o in outcomes]
    assert dict(judge(silent).values) == {}
    assert judge(silent).name == "inconclusive"


@given(st.lists(outcome, max_size=20))
def test_inconclusive_measures_nothing_about_tools(outcomes: list[Outcome]) -> None:
    judged = judge(outcomes)
    assert ("tools" in judged.values) == (judged.name in ("native", "ignored", "refused", "flaky")) or (
        judged.name == "text"
    )
    assert judged.values.get("tools") in (True, False, None)


@given(st.lists(st.sampled_from(list(CODES)), min_size=1, max_size=40))
def test_trials_of_calling_end(codes: list[str]) -> None:
    assert sure((*OPEN, *called(*codes[:MOST], *["timeout"] * (MOST - len(codes)))))
