"""Decides the state of a model's tools from its evidence, with the sentence that people read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from toolsupport.core import capability_reasons, server_flags
from toolsupport.core.format_choice import label
from toolsupport.core.types import Capabilities, Capability

# The states, the strongest evidence first, with their words. A claim never has the state of a proof.
STATES: Mapping[str, str] = MappingProxyType(
    {
        "proven": "Proven",
        "text": "Text mode",
        "broken": "Broken",
        "off": "Off",
        "set": "Set by a person",
        "claimed": "Claimed",
        "testing": "Testing",
        "queued": "Queued",
        "none": "Not measured",
    }
)
WORK = ("proven", "text")  # states in which tools were seen to work
UNPROVEN = ("set", "claimed", "none")  # states without a test
# Verdict of a test → its state, the words of a tile, the sentence. {} stands for the share of passed trials.
VERDICTS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "native": ("proven", "Calls tools {}", "Called the right tool in {} trials."),
        "flaky": ("broken", "Unreliable {}", "Calls tools unreliably: {} test calls were right."),
        "ignored": ("broken", "Ignores tools {}", "Accepts tools but never calls them: {} test calls were made."),
        "refused": ("off", "Refuses tools", "The server refuses tools for this model."),
        "misconfigured": ("broken", "Server setting missing", "The server needs a setting for tools."),
        "text": ("text", "{format} {}", "Works with tools as {format} text: {} test calls were right."),
    }
)
# The same without counted trials.
UNCOUNTED: Mapping[str, str] = MappingProxyType(
    {
        "native": "Called the right tool in a test.",
        "flaky": "Calls tools unreliably.",
        "ignored": "Accepts tools but never calls them.",
        "text": "Works with tools as {format} text.",
    }
)
NATIVE_TOO = {
    "refused": " Its server refuses native tools.",
    "ignored": " It accepts native tools but never calls them.",
    "flaky": " Native tool calls are unreliable.",
}
WITH_THINKING = {"off_only": " Only with thinking off.", "on_only": " Only with thinking on."}
PERSON = ("user_confirmed", "session")
MEASURED = ("auto_detected", "auto_detected_stale")


@dataclass(frozen=True, slots=True)
class EvidenceTest:
    """A finished test: (passed, tried) of the trials that its verdict rests on; `at` is ISO 8601.

    `native` is the finding about native tools of a test with the verdict text. In `cut` of the `made` trials
    the connection was cut.
    """

    id: int = 0
    verdict: str = ""
    native: str = ""
    passed: int = 0
    tried: int = 0
    format: str = ""
    flag: str = ""
    why: str = ""
    at: str = ""
    took_ms: int = 0
    cut: int = 0
    made: int = 0

    @property
    def cuts(self) -> str:
        """How many trials lost their connection, if most did: `5 of 5`."""
        mostly = self.verdict == "inconclusive" and self.cut * 2 > self.made
        return f"{self.cut} of {self.made}" if mostly else ""

    @property
    def share(self) -> str:
        return f"{self.passed} of {self.tried}" if self.tried else ""


NO_TEST = EvidenceTest()


@dataclass(frozen=True, slots=True)
class EvidenceFacts:
    """The facts that decide the state.

    `native` is the test behind the value of native tools, else the newest of this build; `text` the one behind the
    text format. `actor` set the override. `steps` is the progress of the open test, None without one. `flag` is a
    setting that the server lacks. `older`: the measurements belong to another build than the current one. `chats` is
    False for a model of embeddings or the like.
    """

    known: Capabilities
    native: EvidenceTest = NO_TEST
    text: EvidenceTest = NO_TEST
    actor: str = ""
    family: str = ""
    steps: Sequence[Mapping[str, Any]] | None = None
    flag: str = ""
    older: bool = False
    chats: bool = True


@dataclass(frozen=True, slots=True)
class ModelEvidence:
    """The state of a model's tools: a key of STATES with its word, a sentence, and `result`, the words of a tile.

    `test` is the id of the test behind it with its `verdict`, 0 and "" without one; `source` a key of
    override_sources.SOURCES.
    """

    state: str
    sentence: str
    result: str
    step: str = ""
    share: str = ""
    at: str = ""
    test: int = 0
    verdict: str = ""
    source: str = "default"
    older: bool = False
    took_ms: int = 0

    @property
    def word(self) -> str:
        return f"{STATES[self.state]} {self.step}".rstrip()

    @property
    def look(self) -> str:
        """The look of the badge: a model that waits for its test still has only a claim."""
        return "claimed" if self.state == "queued" else self.state

    @property
    def works(self) -> bool:
        return self.state in WORK

    @property
    def proof(self) -> str:
        """The proof in few words: `9 of 9 · 22 Nov · this build`; "" without a test."""
        if not self.test or self.verdict not in VERDICTS:
            return ""
        build = "older build" if self.older else "this build"
        return " · ".join(part for part in (self.share, short_day(self.at), build) if part)


NOTHING = ModelEvidence("none", "Not measured yet.", "Not tested")
NO_CHAT = ModelEvidence(
    "off", "Does not chat: its server lists it for other work, such as embeddings.", "Does not chat"
)


def state_of(facts: EvidenceFacts) -> ModelEvidence:
    """Return the state of a model's tools: the one rule of all pages."""
    if facts.steps is not None:
        return replace(_testing(facts.steps), verdict=facts.native.verdict)
    found = _by_value(facts)
    source = facts.known["tools"].source
    older = facts.older or source == "auto_detected_stale"
    stale = " Tested on an older build." if older else ""
    verdict = "text" if found.state == "text" else facts.native.verdict
    only = WITH_THINKING.get(str(facts.known["tools_thinking"].value), "") if found.state == "proven" else ""
    sentence = f"{found.sentence}{only}{stale}"
    return replace(found, source=source, older=older, sentence=sentence, verdict=verdict, took_ms=facts.native.took_ms)


def _by_value(facts: EvidenceFacts) -> ModelEvidence:
    tools, text_format = facts.known["tools"], facts.known["format"]
    if tools.value is False and text_format.value and text_format.source in MEASURED:
        return _text(facts, str(text_format.value))
    if tools.source in PERSON:
        return _by_person(facts, tools)
    if facts.flag and tools.value is not True:
        return _of_test(replace(facts.native, verdict="misconfigured", flag=facts.flag))
    verdict = _native(facts.native)
    if verdict in VERDICTS:
        return _of_test(replace(facts.native, verdict=verdict))
    if tools.source in MEASURED:
        # Imported, or measured before tests kept their verdicts.
        found = ModelEvidence("proven", "A test showed native tool calls.", "Calls tools")
        return found if tools.value else ModelEvidence("off", "A test showed no native tool calls.", "No tool calls")
    return _claimed(facts, tools)


def _testing(steps: Sequence[Mapping[str, Any]]) -> ModelEvidence:
    if not steps:
        return ModelEvidence("queued", "Waits for its test.", "Queued")
    over = sum(step.get("state") not in ("running", "waiting") for step in steps)
    at = min(over + 1, len(steps))
    return ModelEvidence("testing", f"Step {at} of {len(steps)}.", f"Step {at} of {len(steps)}", f"{at}/{len(steps)}")


def _text(facts: EvidenceFacts, name: str) -> ModelEvidence:
    test = replace(facts.text, verdict="text", format=name)
    found = _of_test(test if test.id else replace(test, passed=0, tried=0))
    return replace(found, sentence=found.sentence + NATIVE_TOO.get(_native(facts.native), ""))


def _native(test: EvidenceTest) -> str:
    """Return the verdict on native tools: one on a text format counts only while the format is in force."""
    return test.native if test.verdict == "text" else test.verdict


def _of_test(test: EvidenceTest) -> ModelEvidence:
    state, result, counted = VERDICTS[test.verdict]
    sentence = counted if test.share else UNCOUNTED.get(test.verdict, counted)
    if test.verdict == "misconfigured" and test.flag:
        sentence = server_flags.sentence(test.flag)
    if test.verdict == "flaky" and not test.passed:
        result = "Wrong calls {}"
    spoken = label(test.format) if test.format else "Text"
    sentence, result = (
        text.replace("{format}", spoken).replace("{}", test.share).strip() for text in (sentence, result)
    )
    return ModelEvidence(state, sentence, result, share=test.share, at=test.at, test=test.id)


def _by_person(facts: EvidenceFacts, tools: Capability) -> ModelEvidence:
    """An override is no proof: with On the test decides the state, if there is one."""
    by = f" by {facts.actor}" if facts.actor else ""
    day = f" on {short_day(tools.since)}" if tools.since else ""
    where = " in this chat" if tools.source == "session" else f"{by}{day}"
    if not tools.value:
        return ModelEvidence("off", f"Turned off{where}.", f"Turned off{by or where}")
    test = replace(facts.native, verdict=_native(facts.native))
    if test.cuts:
        return _cut(test, f"Turned on{where}.")
    if test.verdict not in VERDICTS:
        never = "The last test was inconclusive." if test.id else "Never tested."
        return ModelEvidence("set", f"Turned on{where}. {never}", "Inconclusive" if test.id else "Not tested")
    found = _of_test(test)
    state = found.state if found.state in ("proven", "broken") else "broken"
    return replace(found, state=state, sentence=f"Turned on{where}. {found.sentence}")


def _claimed(facts: EvidenceFacts, tools: Capability) -> ModelEvidence:
    if not facts.chats:
        return NO_CHAT
    why = facts.native.why if facts.native.verdict == "inconclusive" else ""
    proved = f"The last test was inconclusive: {why[:1].lower()}{why[1:]}" if why else ""
    result = "Inconclusive" if facts.native.verdict == "inconclusive" else "Not tested"
    if tools.value is None and facts.native.cuts:
        return _cut(facts.native, "")
    if tools.value is None:
        return replace(NOTHING, sentence=proved or NOTHING.sentence, result=result, test=facts.native.id)
    who = f"The profile of {facts.family} models" if facts.family else "The profile"
    said = f"{'The server' if tools.source == 'declared' else who} says {'yes' if tools.value else 'no'}."
    if facts.native.cuts:
        return _cut(facts.native, said)
    never = proved or ("" if facts.older else "Never tested.")
    return ModelEvidence("claimed", f"{said} {never}".rstrip(), result, test=facts.native.id)


def _cut(test: EvidenceTest, claim: str) -> ModelEvidence:
    """A connection that is cut in most trials contradicts a claim, though it proves nothing about the model."""
    where = f"in {test.cuts} trials" if test.made > 1 else "during the test"
    sentence = f"{claim} The connection was cut {where}.".lstrip()
    return ModelEvidence("broken", sentence, "Connection cut", at=test.at, test=test.id)


def short_day(moment: str) -> str:
    """Format `2026-11-22T08:41:00Z` as `22 Nov`."""
    return capability_reasons.day(moment).rpartition(" ")[0] if moment else ""
