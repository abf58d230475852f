"""A process that lost a turn writes nothing of it any more: every write of a turn is checked, also those to come."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from chat import transcript, turns
from chat.models import Conversation, Message, ToolRun, Turn
from chat.tools.policy import CallOutcome as Ran
from chat.transcript.conversations import memory, prompts
from chat.transcript.questions import questions
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns import found_tools, model_change_check, record
from chat.transcript.turns.begin import AcceptedMessage
from chat.transcript.turns.end import TurnOutcome, end, request_stop
from chat.transcript.turns.sent_message import SentMessage
from tests.chat.started_turns import accept, reply_of
from tests.chat.transcript.losses import LOSSES, ME, dump, run_out
from tests.factories import ConversationFactory, ModelProfileFactory
from toolsupport.core.errors import Lost
from toolsupport.core.types import ToolCall, ToolResult
from toolsupport.registry.knowledge import overrides
from toolsupport.services import context_guard

pytestmark = pytest.mark.django_db
WRITE = ToolCall("c1", "read_file", {"path": "a"})

# Functions that a running turn calls and that read only: all others that reach rows have to be fenced.
READS = {
    "turn_settings.chat_settings",
    "prompt_token_counts.known",
    "questions.granted",
    "record.automatic",
    "record.run_of",
    "sql_sources.granted",
    "sql_sources.reached",
    "model_change_check.model_changed",
    "prompt_context.offered",
    "found_tools.prepared",
    "found_tools.searchable",
}
# Helpers that run in the database's thread; what they call in turn is looked at like everything else.
# What a reply shows about its model, and a query about its database, is true whoever owns the turn.
ABOUT_MODELS = {"reasoning_starts.learn", "response_schema_faults.learn"}
ABOUT_DATABASES = {"sql_sources.keep_query"}
HELPERS = {"self._keep", "self._park", "self._source", "context_guard.without"}
# It reads first, and writes by a fenced function.
HELPERS |= {"context_findings.count_prompt"}
# They format text in workers and read no rows.
HELPERS |= {"formatted.get_ready", "formatted.formatted", "formatted.formatted_blocks", "present.readable"}
# They choose the words of an approval.
HELPERS |= {"present.target", "call_phrases.verb_of"}
# It builds a key of what is kept in memory.
HELPERS |= {"history.place_of"}
# They begin, end and delete turns, or run calls that belong to none.
BESIDE_TURNS = {
    *(f"chat.turns.{name}" for name in ("runner", "heartbeat", "batch_writer", "standalone_call", "comparison_worker")),
    *(f"chat.turns.{name}" for name in ("person_deletion", "retention", "end_writer")),
}
ROW_MODULES = ("chat.transcript.", "toolsupport.registry.", "toolsupport.services.refusal_learning")


@pytest.fixture
def conversation(alice: User) -> Conversation:
    profile = ModelProfileFactory()
    overrides.add(overrides.NewOverride(profile.pk, "tools", True))
    made: Conversation = ConversationFactory(owner=alice, profile=profile, title="")
    return made


@pytest.fixture
def begun(alice: User, conversation: Conversation) -> AcceptedMessage:
    """An answer that this process writes, with a call that waits to run."""
    accepted = accept(alice, str(conversation.pk), SentMessage("c1", "hello"), ME)
    asked = record.RequestedCall(WRITE, "native", "A1")
    record.finish_reply(
        TurnStore(ME, accepted.turn), reply_of(accepted).id, record.FinishedReply("So far", "", None, (asked,))
    )
    return accepted


def modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        yield importlib.import_module(found.name)


def fenced() -> dict[str, Callable[..., Any]]:
    """Every function of the transcript that takes a turn's store or the turn that the store held."""
    found: dict[str, Callable[..., Any]] = {}
    for module in modules(transcript):
        for name, one in inspect.getmembers(module, inspect.isfunction):
            if one.__module__ == module.__name__ and hasattr(one, "__wrapped__") and takes_a_turn(one):
                found[f"{module.__name__.rsplit('.', 1)[-1]}.{name}"] = one
    return found


def takes_a_turn(one: Callable[..., Any]) -> bool:
    first = next(iter(inspect.signature(one).parameters.values()), None)
    return first is not None and first.annotation in ("Turn", "TurnStore")


def of_recording() -> dict[str, Callable[..., Any]]:
    """All that `record` offers and that is not a plain value: it is there to write turns."""
    members = inspect.getmembers(record, inspect.isfunction)
    own = {name: one for name, one in members if one.__module__ == record.__name__ and not name.startswith("_")}
    return {f"record.{name}": one for name, one in own.items() if name not in ("automatic", "run_of", "turn_of")}


def called_by_turns() -> dict[str, str]:
    """The functions of row modules that a running turn names, and all that goes to the database's thread."""
    found = {}
    for module in (*modules(turns), context_guard):
        name = module.__name__
        if name in BESIDE_TURNS:
            continue
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                of = getattr(module, node.value.id, None)
                reaches = inspect.ismodule(of) and of.__name__.startswith(ROW_MODULES)
                if reaches and inspect.isfunction(getattr(of, node.attr, None)):
                    found[ast.unparse(node)] = f"{name}:{node.lineno}"
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "in_database":
                found[ast.unparse(node.args[0])] = f"{name}:{node.lineno}"
    return found


def handed_to_tools() -> set[str]:
    """What the handles that tools get let the database's thread do."""
    found = set()
    for module in (memory, prompts):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "in_database":
                found.add(f"{module.__name__.rsplit('.', 1)[-1]}.{ast.unparse(node.args[0])}")
    return found


def arguments(one: Callable[..., Any]) -> list[Any]:
    names = list(inspect.signature(one).parameters)[1:]
    return [GIVEN[one] if one in GIVEN else Mock(name=name) for name in names]


# What is read before the owner is compared.
GIVEN: dict[Callable[..., Any], Any] = {end: TurnOutcome("done")}


WRITES = {**fenced(), **of_recording()}


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: str(loss.__name__))
def test_every_write_of_a_turn_that_was_lost_is_refused(begun: AcceptedMessage, loss: Callable[[int], None]) -> None:
    loss(begun.turn)
    before, done = dump(), list[str]()
    for name, write in WRITES.items():
        try:
            with transaction.atomic():
                write(TurnStore(ME, begun.turn), *arguments(write))
            done.append(f"{name} is not refused")
        except Lost:
            done += [] if dump() == before else [f"{name} writes"]
    assert done == []


def test_every_write_that_a_turn_makes_is_among_them() -> None:
    called = called_by_turns()
    known = {*WRITES, *READS, *HELPERS, *ABOUT_MODELS, *ABOUT_DATABASES}
    unknown = {name: where for name, where in called.items() if name not in known}
    assert not unknown, "fence these (turn_store.fenced), or name them among READS"
    assert {"record.start_call", "questions.park", "found_tools.add", "context_findings.raise_context"} <= {*called}
    assert handed_to_tools() == {"memory.write_for_model", "prompts.choose_for_model"} <= {*WRITES}


def test_what_is_said_to_read_writes_nothing(begun: AcceptedMessage, conversation: Conversation) -> None:
    assert begun.claimed is not None
    before = dump()
    questions.granted(str(conversation.pk))
    model_change_check.model_changed(begun.turn)
    record.run_of(begun.turn, "c1")
    context_guard.without(found_tools.prepared(begun.turn), ["read_file"])
    found_tools.searchable(begun.claimed.prepared)
    assert dump() == before


def test_a_write_of_another_turn_is_not_covered(alice: User, begun: AcceptedMessage) -> None:
    """The store of one turn opens the rows of no other one."""
    other = accept(alice, str(ConversationFactory(owner=alice).pk), SentMessage("c1", "hi"), ME)
    store, run = TurnStore(ME, other.turn), ToolRun.objects.get(call_id="c1")
    for write in (
        lambda: record.finish_call(store, run.pk, Ran("done", ToolResult("x"), 1)),
        lambda: record.finish_reply(store, reply_of(begun).id, record.FinishedReply("x", "", None)),
        lambda: record.made_inside(store, reply_of(begun).id, record.RequestedCall(WRITE, "native", "A1")),
        lambda: record.reject_call(store, reply_of(begun).id, record.CallRejection("r", "n", "why", "")),
        lambda: questions.park(store, run.pk, questions.ApprovalRequest(WRITE, "", "", False), questions.TurnUsage({})),
    ):
        before = dump()
        with pytest.raises((Message.DoesNotExist, ToolRun.DoesNotExist)):
            write()
        assert dump() == before


def test_the_owner_of_a_running_turn_writes_though_its_lease_ran_out(begun: AcceptedMessage) -> None:
    run_out(begun.turn)
    record.start_call(TurnStore(ME, begun.turn), "c1")
    assert ToolRun.objects.get().status == "running"


def test_a_write_that_fails_leaves_nothing(begun: AcceptedMessage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "announce", Mock(side_effect=RuntimeError))
    before = dump()
    with pytest.raises(RuntimeError):
        record.start_call(TurnStore(ME, begun.turn), "c1")
    assert dump() == before


def test_a_stop_that_came_before_the_question_keeps_the_turn_from_waiting(alice: User, begun: AcceptedMessage) -> None:
    request_stop(alice, str(Turn.objects.get(pk=begun.turn).conversation_id))
    asking = questions.ApprovalRequest(WRITE, "Read?", "", False)
    run = ToolRun.objects.get()
    assert questions.park(TurnStore(ME, begun.turn), run.pk, asking, questions.TurnUsage({})) == ()
    assert Turn.objects.get(pk=begun.turn).status == "running"
