"""A change of one setting keeps concurrent changes of the others."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection, transaction

from chat.models import Conversation
from chat.transcript.settings import chat_settings
from tests.factories import ConversationFactory


@pytest.mark.django_db(transaction=True)
def test_what_is_changed_at_once_is_all_kept() -> None:
    conversation: Conversation = ConversationFactory(settings={"system": "Base."})
    together = Barrier(4)

    def change(number: int) -> None:
        try:
            together.wait(10)
            with transaction.atomic():
                chat_settings.change(conversation.pk, **{f"mark{number}": number})
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(change, range(4)))
    conversation.refresh_from_db()
    assert conversation.settings == {"system": "Base."} | {f"mark{number}": number for number in range(4)}
