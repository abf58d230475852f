"""Fills a site with rows in every state that pages have words for (see test_words_on_pages.py)."""

from __future__ import annotations

import uuid
from itertools import cycle
from typing import Any

from django.contrib.auth.models import User

from chat import sentences
from chat.models import Conversation, Message, Prompt
from chat.statuses import CallStatus, TurnStatus
from chat.tools import BUILTINS
from tests.factories import ConversationFactory, McpServerFactory, McpToolFactory, ModelProfileFactory, ServerFactory
from toolsupport.core import outcomes, server_faults
from toolsupport.core.override_sources import STORED
from toolsupport.detection import DETECTORS
from toolsupport.models import CallMetric, Detection, ModelProfile, Override
from toolsupport.registry.knowledge import event_log, overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.testing import detections
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult, TrialRecord

TOOLS = (*BUILTINS, "box__draw")
FACTS = {
    "state": "Enabled",
    "source": "test",
    "verdict": "calls tools natively",
    "why": "too few trials were made",
    "failed": "wrote calls that cannot be read as Hermes",
    "fallback": "Mistral",
    "tool": "read_file",
    "counted": "4,096",
    "tools": "read_file, bash and 3 more",
    "context": "8,192",
    "before": "4,096",
    "help": "A larger context or fewer tools would help.",
    "person": "Ana",
    "reason": "Asked by its owner.",
    "flag": "--jinja",
    "exam": "Quick exam",
    "settings": "temperature",
    "message": "temperature is not supported with this model.",
}


def a_model_with_everything(person: User) -> ModelProfile:
    """A model with a value of each source, a test with a trial of each outcome, and an entry of each kind."""
    profile: Any = ModelProfileFactory(name="everything:latest", by_hand={"parameter_count": 7_000_000_000})
    for n, source in enumerate(STORED):
        Override.objects.create(
            profile=profile, seq=n + 1, capability="tools", value=bool(n % 2), source=source,
            build_key=profile.build.key, actor=person if source == "user_confirmed" else None,
        )  # fmt: skip
    overrides.add(NewOverride(profile.pk, "tool:read_file", "via_bash", actor=person.pk, reason="seen"))
    overrides.add(NewOverride(profile.pk, "parallel", True, actor=person.pk, proposed=True))
    overrides.add(NewOverride(profile.pk, "format", "qwen3_coder_xml", "auto_detected"))
    a_test_with_every_outcome(profile)
    for kind in event_log.KINDS:
        for source in STORED:
            event_log.record(event_log.HistoryEvent(kind, profile.pk, "tools", False, True, source, actor=person.pk))
    for outcome in ("done", "repaired", "rejected", "unknown", "schema", "prose", "refused"):
        CallMetric.objects.create(profile=profile, format="hermes", outcome=outcome, day="2026-11-21", calls=9)
    return profile


def a_test_with_every_outcome(profile: ModelProfile) -> None:
    test = detections.open_test(DetectionRequest(profile.pk, "page", "per_tool")).id
    Detection.objects.exclude(pk=test).filter(status="queued").delete()
    assert test == detections.claim("worker")
    for n, (step, (code, passed)) in enumerate(
        zip(cycle((*DETECTORS, "an_old_step")), outcomes.CODES.items(), strict=False)
    ):
        response = {"code": code, "subject": "read_file"}
        detections.add_trial(test, "worker", TrialRecord(step, n, {}, response, passed, "It called read_file."))
    result = DetectionResult("native", {"passed": 1, "tried": 1}, {}, "It called list_directory.", run_ms=900)
    detections.conclude(test, "worker", result)


def servers_with_each_fault() -> None:
    for fault in server_faults.FAULTS:
        ModelProfileFactory(server=ServerFactory(reachable=False, fault=fault))


def a_chat_with_everything(person: User) -> Conversation:
    """Each notice, an answer of each end, a call of each tool in each state, and each question."""
    conversation: Any = ConversationFactory(owner=person, profile=a_model_with_everything(person))
    leaf = _message(conversation, None, role="user", content="Go.")
    for code in sentences.NOTICES:
        leaf = _message(conversation, leaf, role="notice", code=code, facts={"model": "everything:latest"} | FACTS)
    old = "Tested everything:latest: calls tools natively."
    leaf = _message(conversation, leaf, role="notice", code="detected", content=old)
    for status in TurnStatus:
        if status in (TurnStatus.QUEUED, TurnStatus.RUNNING, TurnStatus.WAITING):
            continue
        turn = _turn(conversation, status)
        leaf = _message(conversation, leaf, role="assistant", content="Done.", turn=turn)
        for n, call in enumerate(CallStatus if status == TurnStatus.DONE else ()):
            _calls(leaf, turn, f"{n}", call)
    turn = _turn(conversation, TurnStatus.WAITING)
    leaf = _message(conversation, leaf, role="assistant", content="May I?", turn=turn)
    _questions(conversation, leaf, turn)
    conversation.leaf = leaf
    conversation.save()
    Prompt.objects.create(name="short", text="Answer in one sentence.", written_by=person)
    return conversation


def _turn(conversation: Any, status: str) -> Any:
    return conversation.turns.create(
        client_id=uuid.uuid4().hex, profile=conversation.profile, status=status,
        reason="" if status == TurnStatus.DONE else "most_calls:9",
    )  # fmt: skip


def _message(conversation: Conversation, parent: Message | None, **fields: Any) -> Message:
    return conversation.messages.create(parent=parent, **fields)


def _calls(message: Message, turn: Any, name: str, status: str) -> None:
    for tool in TOOLS:
        message.tool_runs.create(
            turn=turn, call_id=f"{name}{tool}", name=tool, status=status, arguments={"path": "a_b.txt"}, level="A1",
            asked_as="bash" if tool == "read_file" else "", served_by=tool, format="hermes", duration_ms=120,
            repairs=["removed the code fence", "called as bash, run by read_file"],
            error="" if status == CallStatus.DONE else f"{tool} was stopped: it took longer than 30 seconds.",
            result="[The file is empty.]" if status == CallStatus.DONE else "",
        )  # fmt: skip


def _questions(conversation: Conversation, message: Message, turn: Any) -> None:
    for n, tool in enumerate(TOOLS):
        run = message.tool_runs.create(
            turn=turn, call_id=f"asks{n}", name=tool, status=CallStatus.WAITING, arguments={"path": "a"}, level="A2"
        )
        words = {"text": f"Run {tool}?", "reason": f"Requested after reading a result of {tool}."}
        options = ["once", "chat", "deny", "edit"]
        conversation.questions.create(turn=turn, tool_run=run, kind="approval", options=options, **words)
    for kind in ("unknown_model", "runtime_learning"):
        conversation.questions.create(kind=kind, text="Does everything:latest support tools?", options=["yes", "no"])


def the_rest(person: User) -> None:
    """Tools of an MCP server, one of which waits for approval; a conversation without messages."""
    server = McpServerFactory(name="box", reachable=False, last_error="It does not answer in time.")
    McpToolFactory(server=server, name="draw", read_only=True, approved_by=person)
    offered = {"name": "waits", "inputSchema": {"type": "object"}}
    McpToolFactory(server=server, name="waits", waiting=offered, waiting_digest="x")
    ConversationFactory(owner=person)
