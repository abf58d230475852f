"""One process that writes into a conversation in many ways, once for each line it reads, and prints the numbers."""

from __future__ import annotations

import json
import sys
import uuid

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.db import transaction  # noqa: E402

from chat.models import Conversation  # noqa: E402
from chat.transcript.announcements import EndedQuestion, announce_all  # noqa: E402
from chat.transcript.conversations.conversations import say  # noqa: E402
from chat.transcript.turn_store import TurnStore  # noqa: E402
from chat.transcript.turns import record  # noqa: E402
from chat.transcript.turns.begin import TurnRequest, begin  # noqa: E402
from chat.transcript.turns.end import TurnOutcome, end  # noqa: E402
from chat.transcript.turns.sent_message import SentMessage  # noqa: E402
from toolsupport.core.errors import Busy  # noqa: E402


def answered(person: User, conversation: str) -> list[int]:
    """The numbers of a whole turn; none where another process writes one at the moment."""
    owner = uuid.uuid4().hex
    try:
        begun = begin(TurnRequest(person, conversation, SentMessage(uuid.uuid4().hex, "hi"), owner))
    except Busy:
        return []
    assert begun.claimed is not None
    store, reply = TurnStore(owner, begun.turn), record.FinishedReply("Well.", "", None)
    finished = record.finish_reply(store, begun.claimed.reply, reply)
    second = record.start_reply(store)
    ended = end(TurnStore(owner, begun.turn), TurnOutcome("done"))
    told = [*begun.announced, *begun.claimed.opening, finished, second, *ended.announced]
    return [each.seq for each in told]


def noticed(row: Conversation) -> list[int]:
    with transaction.atomic():
        return [say(row, "tools_refused", {"model": "m"}).seq]


def several(row: Conversation) -> list[int]:
    with transaction.atomic():
        return [each.seq for each in announce_all(row.pk, *(EndedQuestion(number, "once") for number in range(3)))]


def main(conversation: str) -> None:
    row = Conversation.objects.get(pk=conversation)
    print(json.dumps([]), flush=True)
    for _ in sys.stdin:
        numbers = [*answered(row.owner, conversation), *noticed(row), *several(row)]
        print(json.dumps(numbers), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
