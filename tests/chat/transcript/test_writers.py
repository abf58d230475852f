"""Every function that writes rows of a turn is listed here, with what keeps a process that lost the turn out of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from chat import transcript
from chat.models import Conversation, Message
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns import end, leases
from chat.transcript.turns.end import TurnOutcome
from chat.transcript.turns.sent_message import SentMessage
from tests.chat.started_turns import accept, reply_of
from tests.chat.transcript.losses import LOSSES, ME, dump
from tests.chat.transcript.test_turn_store import fenced
from tests.factories import ConversationFactory
from toolsupport.core.errors import Lost
from toolsupport.registry.metrics.call_metrics import CallCount

FENCED = "takes a TurnStore: raises Lost before it writes"
OWNER = "compares the owner in its own statement"
STATUS = "for people and sweeps: changes only what has the status that it expects, holding the conversation"
NEW = "writes only rows that are new"
CALLERS = "called only by functions of this table"

WRITERS = {
    "record.start_reply": FENCED,
    "record.finish_reply": FENCED,
    "raw_exchanges.keep": CALLERS,
    "formatted._write": "pages write it too: HTML counts only for the text it was made from",
    "record._pending": CALLERS,
    "record.start_call": FENCED,
    "record.finish_call": FENCED,
    "record.reject_call": FENCED,
    "record.fall_back": FENCED,
    "fallback.take_over": FENCED,
    "questions.park": FENCED,
    "server_refusal_question.ask_to_learn": FENCED,
    "found_tools.add": FENCED,
    "first_tasks.prepare": NEW,
    "sql.end_turn": OWNER,
    "sql.write_grown": OWNER,
    "sql.owned": OWNER,
    "leases.keep_rest": "stores only behind the text of an answer whose lease ran out, as nobody else writes it",
    "sql.write_reply": CALLERS,
    "sql.finish": CALLERS,
    "sql.write_html": CALLERS,
    "end.close": CALLERS,
    "questions.close_all": CALLERS,
    "end._stop": STATUS,
    "end.supersede": STATUS,
    "end.give_up": STATUS,
    "leases.expire": STATUS,
    "begin.claim": STATUS,
    "api_tool_call.state": STATUS,
    "questions.answer": STATUS,
    "questions._edit": CALLERS,
    "questions._closed": CALLERS,
    "questions._expire": STATUS,
    "questions.revoke": "writes grants only",
    "unknown_model.ask": STATUS,
    "model_notices._close": STATUS,
    "unknown_model._ask": NEW,
    "deletion.request_stops": "asks turns to stop, as their owner would",
    "deletion._delete": "deletes only conversations in which no turn holds a lease",
    "deletion.delete_prompts": "deletes prompts only",
    "deletion.forget_name": "changes notices only",
    "old_chats.prune_chats": "deletes only conversations without a running turn",
    "old_chats.prune_exchanges": "deletes raw exchanges of old answers only",
    "begin._insert_turn": NEW,
    "begin._insert_message": NEW,
    "begin._with_reply": NEW,
    "conversations.say": NEW,
}

# Rows of a conversation that are no rows of a turn.
OTHERS = ("Conversation", "Grant", "Share", "Prompt", "Memory")
WRITES = {
    "save",
    "insert",
    "create",
    "update",
    "delete",
    "get_or_create",
    "update_or_create",
    "bulk_create",
    "bulk_update",
}
STATEMENTS = ("UPDATE chat_turn", "UPDATE chat_message", "INSERT INTO", "UPDATE chat_toolrun", "UPDATE chat_question")
# They write settings, members, files or texts of people, or replays, never rows of a turn.
ELSEWHERE = {"chat_settings", "comparisons", "listing", "memory", "pending_files", "prompts", "sharing"}


def writers() -> Iterator[str]:
    """The functions of the transcript that write rows other than those of OTHERS, by module and name."""
    for path in sorted(Path(next(iter(transcript.__path__))).rglob("*.py")):
        if path.stem in ELSEWHERE:
            continue
        tree = ast.parse(path.read_text())
        statements = {name for node in tree.body for name in names_of_statements(node)}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and any(writes(part, statements) for part in ast.walk(node)):
                yield f"{path.stem}.{node.name}"


def names_of_statements(node: ast.stmt) -> set[str]:
    """The name of a written statement that changes rows of a turn."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
        return set()
    is_write = str(node.value.value).startswith(STATEMENTS)
    return {ast.unparse(target) for target in node.targets} if is_write else set()


def writes(node: ast.AST, statements: set[str]) -> bool:
    if isinstance(node, ast.Name) and node.id in statements:
        return True
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WRITES):
        return False
    return not ast.unparse(node.func).startswith(OTHERS)


def test_every_writer_is_listed() -> None:
    assert {*writers()} == {*WRITERS}, "list it with what keeps a process out that lost the turn"


def test_what_is_said_to_be_fenced_is() -> None:
    assert {name for name, how in WRITERS.items() if how == FENCED} <= {*fenced()}


def ends(store: TurnStore, reply: int) -> None:
    """The end of a turn, with all that can be written with it."""
    outcome = TurnOutcome("done", "", {"x": 1}, (reply, "mine", "mine", 1), (CallCount("native", "ready"),))
    end.end(store, outcome)


def keeps_alive(store: TurnStore, reply: int) -> None:
    """A heartbeat is for many turns: it reports those that are lost."""
    if store.turn in leases.keep_alive(store.owner, [store.turn], [(reply, "mine", "mine")]).lost:
        raise Lost


@pytest.mark.django_db
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: str(loss.__name__))
@pytest.mark.parametrize("write", [ends, keeps_alive], ids=lambda write: str(write.__name__))
def test_statements_that_compare_the_owner_change_nothing_of_others(
    alice: User, write: Callable[[TurnStore, int], None], loss: Callable[[int], Any]
) -> None:
    conversation: Conversation = ConversationFactory(owner=alice)
    begun = accept(alice, str(conversation.pk), SentMessage("c1", "hello"), ME)
    reply = reply_of(begun).id
    loss(begun.turn)
    # As if another process wrote the message on: a text that is not finished could be written over.
    Message.objects.filter(pk=reply).update(finished=False, content="theirs")
    before = dump()
    with pytest.raises(Lost), transaction.atomic():
        write(TurnStore(ME, begun.turn), reply)
    assert dump() == before
