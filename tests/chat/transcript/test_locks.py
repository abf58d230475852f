"""Several writers at once leave one unbroken branch, whichever database keeps it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection, transaction

from chat.models import Conversation, Message
from chat.transcript.conversations.conversations import say
from tests.factories import ConversationFactory

WRITERS, NOTICES = 4, 10


# O2
@pytest.mark.django_db(transaction=True)
def test_notices_of_several_writers_follow_each_other() -> None:
    conversation = ConversationFactory()
    together = Barrier(WRITERS)

    def write(number: int) -> list[int]:
        try:
            together.wait()
            told = [transaction.atomic(say)(conversation, "tools_refused", {"model": "m"}) for _ in range(NOTICES)]
            return [each.seq for each in told]
        finally:
            connection.close()

    with ThreadPoolExecutor(WRITERS) as writers:
        numbers = [seq for seqs in writers.map(write, range(WRITERS)) for seq in seqs]
    assert sorted(numbers) == list(range(1, WRITERS * NOTICES + 1))
    rows = dict(Message.objects.filter(conversation=conversation).values_list("pk", "parent_id"))
    walked, leaf = 0, Conversation.objects.get(pk=conversation.pk).leaf_id
    while leaf is not None:
        walked, leaf = walked + 1, rows[leaf]
    assert walked == len(rows) == WRITERS * NOTICES
