"""Runs the queries of every answer as written statements: `toolsupport.registry.raw_sql` gives the reason."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import timedelta
from typing import Any, NamedTuple

from django.utils import timezone

from chat.models import Conversation, FormattedMessage, Message, ToolRun, Turn
from chat.statuses import ACTIVE, OPEN, TurnStatus
from chat.tools import policy
from toolsupport.registry import raw_sql

ReplyRow = tuple[int, str, str, int | None]


class MessageRow(NamedTuple):
    """A message in the form for a request to a model."""

    pk: int
    parent_id: int | None
    role: str
    content: str
    thinking: str
    finished: bool
    conversation_id: uuid.UUID
    attachments: list[str]
    has_calls: bool
    outside: list[dict[str, Any]]


class OpenTurns(NamedTuple):
    """The open turns that may prevent another one: the same one, one in this conversation, the person's number."""

    known: int | None
    open_here: int
    running: int


CONVERSATION = "SELECT * FROM chat_conversation WHERE id = %s AND owner_id = %s {lock}"
TURN = "SELECT id FROM chat_turn WHERE conversation_id = chat_conversation.id AND status IN ({}) LIMIT 1".format(
    ", ".join(f"'{status}'" for status in OPEN)
)
MEMORY = "FROM chat_memory WHERE conversation_id = chat_conversation.id ORDER BY id DESC LIMIT 1"
WITH_STATE = f"""SELECT *, ({TURN}) AS open_turn,
EXISTS (SELECT 1 FROM chat_grant WHERE conversation_id = chat_conversation.id AND revoked_at IS NULL) AS has_grants,
(SELECT text {MEMORY}) AS memory_text, (SELECT outside {MEMORY}) AS memory_outside FROM"""


def conversation_of(owner: int | None, conversation: str, lock: bool, with_state: bool = False) -> Conversation | None:
    """Return a person's conversation; None if absent, another person's, or a malformed id.

    `with_state`: it has the attributes `open_turn` (None without one) and `has_grants`, and its memory is read too
    (`prompt_context`).
    """
    try:
        wanted = uuid.UUID(str(conversation))
    except ValueError:
        return None
    statement = CONVERSATION if lock else CONVERSATION.replace("{lock}", "")
    statement = statement.replace("SELECT * FROM", WITH_STATE) if with_state else statement
    return next(iter(raw_sql.made(Conversation, statement, wanted, owner)), None)


COUNT_UP = "UPDATE chat_conversation SET tail = tail + %s, updated_at = %s WHERE id = %s RETURNING tail"


def count_up(conversation: uuid.UUID, things: int) -> int:
    """Increase the counter of announcements; return the last number."""
    found = raw_sql.row(COUNT_UP, things, timezone.now(), conversation)
    assert found is not None
    return int(found[0])


GROW = """UPDATE chat_conversation SET tail = tail + %s, leaf_id = %s, title = %s, updated_at = %s
WHERE id = %s RETURNING tail"""


def grow(conversation: Conversation, things: int) -> int:
    """Store a conversation's changes after new messages, and count announcements; return the last number."""
    conversation.updated_at = timezone.now()
    values = (conversation.leaf_id, conversation.title, conversation.updated_at)
    found = raw_sql.row(GROW, things, *values, conversation.pk)
    assert found is not None
    conversation.tail = int(found[0])
    return conversation.tail


ROOM = """SELECT
(SELECT id FROM chat_turn WHERE conversation_id = %s AND client_id = %s),
(SELECT COUNT(*) FROM chat_turn WHERE conversation_id = %s AND status IN (%s, %s, %s)),
(SELECT COUNT(*) FROM chat_turn JOIN chat_conversation ON chat_conversation.id = chat_turn.conversation_id
 WHERE chat_turn.status IN (%s, %s) AND chat_conversation.owner_id = %s)"""


def room(conversation: Conversation, client_id: str) -> OpenTurns:
    """Return the open turns that matter before another one begins."""
    here = conversation.pk
    found = raw_sql.row(ROOM, here, client_id, here, *OPEN, *ACTIVE, conversation.owner_id)
    assert found is not None
    return OpenTurns(*found)


MESSAGES = """SELECT id, parent_id, role, content, thinking, finished, attachments,
EXISTS (SELECT 1 FROM chat_toolrun WHERE chat_toolrun.message_id = chat_message.id), outside
FROM chat_message WHERE conversation_id = %s ORDER BY id"""


def messages_in(conversation: uuid.UUID) -> list[MessageRow]:
    """Return all messages of a conversation, of all branches."""
    found = raw_sql.rows(MESSAGES, conversation)
    parsed = raw_sql.parsed
    return [MessageRow._make((*row[:6], conversation, parsed(row[6]), row[7], parsed(row[8]))) for row in found]


RUNS_HERE = """SELECT chat_toolrun.* FROM chat_toolrun JOIN chat_message ON chat_message.id = chat_toolrun.message_id
WHERE chat_message.conversation_id = %s ORDER BY chat_toolrun.id"""


def runs_of_conversation(conversation: uuid.UUID) -> list[ToolRun]:
    return raw_sql.made(ToolRun, RUNS_HERE, conversation)


RUNS = "SELECT * FROM chat_toolrun WHERE message_id = %s ORDER BY id"


def runs_of(answer: Message) -> list[ToolRun]:
    """Return the calls of a message from `answers_of`."""
    return raw_sql.made(ToolRun, RUNS, answer.pk) if getattr(answer, "has_calls", True) else []


GRANTED = "SELECT tool, path FROM chat_grant WHERE conversation_id = %s AND revoked_at IS NULL"


def granted_in(conversation: uuid.UUID) -> frozenset[str]:
    """Return what may run without asking in a conversation: tools, and tools with the only file they may change."""
    return frozenset(policy.grant(tool, path) for tool, path in raw_sql.rows(GRANTED, conversation))


UNENDED = "SELECT id FROM chat_turn WHERE status IN ({})".format(", ".join(f"'{status}'" for status in ACTIVE))


def unended() -> frozenset[int]:
    """Return the turns (ids) that wait for a process or run in one."""
    return frozenset(turn for (turn,) in raw_sql.rows(UNENDED))


STOPS = "SELECT id, stop_requested_at FROM chat_turn WHERE id IN {ids} AND owner = %s AND status = %s"
RENEW = """UPDATE chat_turn SET lease_until = {later} WHERE id IN {ids} AND owner = %s AND status = %s
RETURNING id, stop_requested_at"""


def owned(owner: str, turns: list[int], lease: timedelta | None) -> dict[int, Any]:
    """Return when a stop was requested (or None) for those of `turns` that `owner` still runs, with a new `lease`."""
    mine = turns, owner, TurnStatus.RUNNING
    found = raw_sql.rows(RENEW, f"+{lease.total_seconds()} seconds", *mine) if lease else raw_sql.rows(STOPS, *mine)
    return dict(found)


HELD = """SELECT chat_conversation.id FROM chat_conversation JOIN chat_turn
ON chat_turn.conversation_id = chat_conversation.id WHERE chat_turn.id = %s {lock} OF chat_conversation"""
END = """UPDATE chat_turn SET status = %s, reason = %s, usage = %s, ended_at = {now}, lease_until = NULL
WHERE id = %s AND owner = %s AND status = %s
RETURNING id, client_id, status, owner, lease_until, stop_requested_at, format, usage, reason, created_at, started_at,
ended_at, conversation_id, profile_id, program,
(SELECT owner_id FROM chat_conversation WHERE id = conversation_id) AS person"""


def hold_conversation_of(turn: int) -> None:
    """Lock the conversation of a turn against other writers until the transaction ends."""
    raw_sql.hold(HELD, turn)


def end_turn(owner: str, turn: int, end: tuple[str, str, dict[str, Any]]) -> Turn | None:
    """End a turn of `owner`, with (status, reason, usage); None if it is not, or no longer, this owner's.

    The turn has the `person` of its conversation, so that this is not read for the quota alone. Its capabilities, which
    no end needs, are left in their row.
    """
    hold_conversation_of(turn)
    return next(iter(raw_sql.made(Turn, END, *end, turn, owner, TurnStatus.RUNNING)), None)


LAST_WORDS = """UPDATE chat_message SET content = %s, thinking = %s, thinking_ms = %s, finished = %s
WHERE id = %s AND turn_id = %s AND NOT finished"""


def write_reply(turn: int, reply: ReplyRow) -> None:
    """Store the whole text of an unfinished reply, which is finished then."""
    message, text, thinking, thinking_ms = reply
    raw_sql.change(LAST_WORDS, text, thinking, thinking_ms, True, message, turn)


ANSWERS = """SELECT chat_message.*, EXISTS (SELECT 1 FROM chat_message AS other WHERE other.id <> chat_message.id
AND other.parent_id = chat_message.parent_id AND other.role <> 'notice') AS forked,
EXISTS (SELECT 1 FROM chat_toolrun WHERE chat_toolrun.message_id = chat_message.id) AS has_calls
FROM chat_message WHERE turn_id = %s AND role = 'assistant' ORDER BY id"""


def answers_of(turn: int) -> list[Message]:
    """Return the messages that a turn wrote, with `forked` (it has an alternative) and `has_calls`."""
    return raw_sql.made(Message, ANSWERS, turn)


WRITE_HTML = """INSERT INTO chat_formattedmessage (message_id, html, seal) VALUES (%s, %s, %s)
ON CONFLICT (message_id) DO UPDATE SET html = excluded.html, seal = excluded.seal"""


def write_html(row: FormattedMessage) -> None:
    """Store the HTML of a message, in the place of what is there."""
    raw_sql.change(WRITE_HTML, row.message_id, row.html, row.seal)


FINISH = "UPDATE chat_message SET finished = %s WHERE id = %s"


def finish(message: int) -> None:
    raw_sql.change(FINISH, True, message)


GROWN = """UPDATE chat_message SET content = %s, thinking = %s WHERE id = %s AND NOT finished AND EXISTS
(SELECT 1 FROM chat_turn WHERE chat_turn.id = turn_id AND chat_turn.owner = %s AND chat_turn.status = %s)"""


def write_grown(owner: str, texts: Iterable[tuple[int, str, str]]) -> None:
    """Store growing texts (message, text, thinking), if `owner` still runs their turns."""
    raw_sql.change_each(
        GROWN, ((text, thinking, message, owner, TurnStatus.RUNNING) for message, text, thinking in texts)
    )


PRUNE = """DELETE FROM chat_rawexchange WHERE id IN (SELECT id FROM (
SELECT id, ROW_NUMBER() OVER newest AS place, SUM(characters) OVER newest AS size
FROM chat_rawexchange WHERE conversation_id = %s WINDOW newest AS (ORDER BY id DESC)
) AS kept WHERE place > %s OR (place > 1 AND size > %s))"""


def prune_exchanges(conversation: uuid.UUID, most: int, characters: int) -> None:
    """Delete the oldest raw exchanges of a conversation beyond a count and a size; the newest stays in any case."""
    raw_sql.change(PRUNE, conversation, most, characters)
