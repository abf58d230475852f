"""The state of a model's tools: one rule for all pages, and a claim never looks like a proof."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from tests.tables import every
from toolsupport.core.evidence_state import STATES, EvidenceFacts, EvidenceTest, state_of
from toolsupport.core.override_sources import SOURCES
from toolsupport.core.tool_state_labels import tools_word
from toolsupport.core.types import Capabilities, Capability

ROOT = Path(__file__).parents[3]
AT = "2026-11-22T08:41:00Z"


def known(tools: bool | None, source: str = "default", text: str | None = None, of: str = "auto_detected") -> Any:
    values = {"tools": Capability("tools", tools, source, "", AT), "format": Capability("format", text, of, "")}
    return Capabilities(values)


def ended(verdict: str, passed: int = 0, tried: int = 0, **more: Any) -> EvidenceTest:
    return EvidenceTest(7, verdict, passed=passed, tried=tried, at=AT, **more)


def one_way(way: str) -> Any:
    found = known(True, MEASURED)
    return Capabilities({**found.values, "tools_thinking": Capability("tools_thinking", way, MEASURED, "")})


MEASURED, CLAIMED = "auto_detected", "declared"
FLAG = "The server needs a setting for tools: `--jinja`."
ROWS: list[tuple[EvidenceFacts, str, str]] = [
    # a test
    (
        EvidenceFacts(known(True, MEASURED), ended("native", 3, 3)),
        "proven",
        "Called the right tool in 3 of 3 trials.",
    ),
    (EvidenceFacts(known(True, MEASURED), ended("native")), "proven", "Called the right tool in a test."),
    (
        EvidenceFacts(one_way("off_only"), ended("native", 3, 3)),
        "proven",
        "Called the right tool in 3 of 3 trials. Only with thinking off.",
    ),
    (
        EvidenceFacts(one_way("both"), ended("native", 3, 3)),
        "proven",
        "Called the right tool in 3 of 3 trials.",
    ),
    (
        EvidenceFacts(known(True, MEASURED), ended("flaky", 7, 9)),
        "broken",
        "Calls tools unreliably: 7 of 9 test calls were right.",
    ),
    (
        EvidenceFacts(known(False, MEASURED), ended("ignored", 0, 5)),
        "broken",
        "Accepts tools but never calls them: 0 of 5 test calls were made.",
    ),
    (EvidenceFacts(known(False, MEASURED), ended("refused")), "off", "The server refuses tools for this model."),
    (EvidenceFacts(known(None), ended("misconfigured", flag="--jinja")), "broken", FLAG),
    (EvidenceFacts(known(False, CLAIMED), flag="--jinja"), "broken", FLAG),
    (
        EvidenceFacts(known(False, CLAIMED), chats=False),
        "off",
        "Does not chat: its server lists it for other work, such as embeddings.",
    ),
    # a connection that is cut whenever tools are sent contradicts a claim; one or two cuts of many do not
    (
        EvidenceFacts(known(True, CLAIMED), ended("inconclusive", cut=5, made=5)),
        "broken",
        "The server says yes. The connection was cut in 5 of 5 trials.",
    ),
    (
        EvidenceFacts(known(None), ended("inconclusive", cut=3, made=5)),
        "broken",
        "The connection was cut in 3 of 5 trials.",
    ),
    (
        EvidenceFacts(known(True, "user_confirmed"), ended("inconclusive", cut=5, made=5), actor="Ana"),
        "broken",
        "Turned on by Ana on 22 Nov. The connection was cut in 5 of 5 trials.",
    ),
    (
        EvidenceFacts(known(True, CLAIMED), ended("inconclusive", cut=1, made=1)),
        "broken",
        "The server says yes. The connection was cut during the test.",
    ),
    (
        EvidenceFacts(known(True, CLAIMED), ended("inconclusive", why="Late.", cut=2, made=5)),
        "claimed",
        "The server says yes. The last test was inconclusive: late.",
    ),
    (
        EvidenceFacts(known(True, "user_confirmed"), ended("inconclusive"), actor="Ana"),
        "set",
        "Turned on by Ana on 22 Nov. The last test was inconclusive.",
    ),
    # text formats
    (
        EvidenceFacts(
            known(False, MEASURED, "hermes"), ended("text", native="refused"), EvidenceTest(8, "text", "", 2, 2)
        ),
        "text",
        "Works with tools as Hermes text: 2 of 2 test calls were right. Its server refuses native tools.",
    ),
    (
        EvidenceFacts(known(False, MEASURED, "hermes"), ended("ignored", 0, 5)),
        "text",
        "Works with tools as Hermes text. It accepts native tools but never calls them.",
    ),
    # the format was undone since: what remains is the verdict on native tools
    (
        EvidenceFacts(known(False, MEASURED), ended("text", native="refused")),
        "off",
        "The server refuses tools for this model.",
    ),
    # a format that a person set is no proof, and neither is an override
    (EvidenceFacts(known(False, CLAIMED, "hermes", "user_confirmed")), "claimed", "The server says no. Never tested."),
    (
        EvidenceFacts(known(True, "user_confirmed"), actor="Ana"),
        "set",
        "Turned on by Ana on 22 Nov. Never tested.",
    ),
    (EvidenceFacts(known(True, "session")), "set", "Turned on in this chat. Never tested."),
    (
        EvidenceFacts(known(True, "user_confirmed"), ended("native", 3, 3), actor="Ana"),
        "proven",
        "Turned on by Ana on 22 Nov. Called the right tool in 3 of 3 trials.",
    ),
    (
        EvidenceFacts(known(True, "user_confirmed"), ended("refused"), actor="Ana"),
        "broken",
        "Turned on by Ana on 22 Nov. The server refuses tools for this model.",
    ),
    (
        EvidenceFacts(known(False, "user_confirmed"), ended("native", 3, 3), actor="Ana"),
        "off",
        "Turned off by Ana on 22 Nov.",
    ),
    (EvidenceFacts(known(False, "session")), "off", "Turned off in this chat."),
    # claims
    (EvidenceFacts(known(True, CLAIMED)), "claimed", "The server says yes. Never tested."),
    (EvidenceFacts(known(False, CLAIMED)), "claimed", "The server says no. Never tested."),
    (
        EvidenceFacts(known(True, "profile"), family="qwen3"),
        "claimed",
        "The profile of qwen3 models says yes. Never tested.",
    ),
    (
        EvidenceFacts(known(True, CLAIMED), ended("inconclusive", why="The server went away.")),
        "claimed",
        "The server says yes. The last test was inconclusive: the server went away.",
    ),
    (EvidenceFacts(known(True, CLAIMED), older=True), "claimed", "The server says yes. Tested on an older build."),
    (
        EvidenceFacts(known(True, "auto_detected_stale"), ended("native", 3, 3)),
        "proven",
        "Called the right tool in 3 of 3 trials. Tested on an older build.",
    ),
    # nothing, or a test that runs
    (EvidenceFacts(known(None)), "none", "Not measured yet."),
    (EvidenceFacts(known(None), ended("inconclusive", why="Cut.")), "none", "The last test was inconclusive: cut."),
    (EvidenceFacts(known(True, MEASURED), ended("native", 3, 3), steps=()), "queued", "Waits for its test."),
    (
        EvidenceFacts(known(None), steps=({"state": "done"}, {"state": "running"}, {"state": "waiting"})),
        "testing",
        "Step 2 of 3.",
    ),
    # imported without a test of this site
    (EvidenceFacts(known(True, MEASURED)), "proven", "A test showed native tool calls."),
    (EvidenceFacts(known(False, MEASURED)), "off", "A test showed no native tool calls."),
]


@every("facts, state, sentence", ROWS)
def test_the_state_and_its_sentence(facts: EvidenceFacts, state: str, sentence: str) -> None:
    found = state_of(facts)
    assert (found.state, found.sentence) == (state, sentence)


def test_every_state_is_in_the_table() -> None:
    assert {state for _, state, _ in ROWS} == set(STATES)


@given(
    tools=some.sampled_from([True, False, None]),
    source=some.sampled_from([*SOURCES]),
    text=some.sampled_from([None, "hermes"]),
    of=some.sampled_from([*SOURCES]),
    flag=some.sampled_from(["", "--jinja"]),
)
def test_without_a_test_nothing_is_proven(tools: bool | None, source: str, text: str | None, of: str, flag: str):
    found = state_of(EvidenceFacts(known(tools, source, text, of), flag=flag))
    measured = ("auto_detected", "auto_detected_stale")
    assert not found.works or source in measured or of in measured
    assert found.sentence and found.word and found.look != "queued"


def test_the_proof_in_few_words() -> None:
    found = state_of(EvidenceFacts(known(True, MEASURED), ended("native", 9, 9)))
    assert found.proof == "9 of 9 · 22 Nov · this build"
    stale = state_of(EvidenceFacts(known(True, "auto_detected_stale"), ended("native", 9, 9)))
    assert stale.proof == "9 of 9 · 22 Nov · older build"
    assert state_of(EvidenceFacts(known(True, CLAIMED))).proof == ""


@every(
    "tools, source, text, word",
    [
        (True, CLAIMED, None, "Enabled"),
        (True, MEASURED, "hermes", "Enabled"),
        (False, MEASURED, "hermes", "Text mode"),
        (False, "profile", None, "Disabled"),
        (None, "default", "hermes", "Unknown"),
    ],
)
def test_the_word_of_a_notice(tools: bool | None, source: str, text: str | None, word: str) -> None:  # D4
    assert tools_word(known(tools, source, text)) == word


def test_no_page_has_a_badge_or_a_rule_of_its_own() -> None:
    templates = [path for path in (ROOT / "templates").rglob("*.html") if 'class="ev"' in path.read_text()]
    # The claim in mcp.html is about a tool of an MCP server, not about a model.
    assert {path.name for path in templates} == {"evidence.html", "mcp.html"}
    code = [path for part in ("toolsupport", "chat") for path in (ROOT / part).rglob("*.py")]
    callers = {path.name for path in code if "state_of(" in path.read_text() and "evidence_state" in path.read_text()}
    assert callers == {"model_evidence.py"}


def test_a_tile_tells_wrong_calls_from_unreliable_ones() -> None:
    for passed, words in ((0, "Wrong calls 0 of 9"), (7, "Unreliable 7 of 9")):
        assert state_of(EvidenceFacts(known(True, MEASURED), ended("flaky", passed, 9))).result == words
