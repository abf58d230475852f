"""The number of queries of each page: a ceiling for each, and none made more than twice before something is written."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from chat.models import Conversation, Memory, Message, ToolRun, Turn
from tests.factories import ConversationFactory, McpServerFactory, McpToolFactory, ModelProfileFactory, ServerFactory
from tests.parameters import KINDS, answered_in
from tests.query_ceilings import CEILINGS
from tests.tables import every
from tests.test_permissions import (
    ADDRESSES,
    ALONE,
    AT_ONCE,
    QUERIES,
    Address,
    Visitor,
    out_there,
    put_away,
    undone,
    visitor,
)
from toolsupport.registry import row_cache
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.people import quotas
from toolsupport.registry.testing import detections
from toolsupport.registry.testing.detections import DetectionRequest
from toolsupport.web.authentication import factor_proof

__all__ = ["out_there"]
# The marks of transactions are no questions.
MARKS = ("SAVEPOINT", "RELEASE SAVEPOINT", "BEGIN", "COMMIT", "ROLLBACK")
REFUSED = (403, 405)
# What a form sends, so that its page does what it is for.
SENT: dict[str, dict[str, Any]] = {
    "model-fallbacks": {"fallback_models": [""], "reason": "seen"},
    "model-gate": {"required_exam": "", "reason": "seen"},
    "model-override": {"decision": "yes", "reason": "seen", "newest": 0},
    "model-capability": {"capability": "vision", "value": "yes", "reason": "seen", "newest": 0},
    "tools-switches": {"filter_only": "off", "text_formats": "measured", "code_mode": "on", "drift": "ask"},
}
MOST = 12  # of any page, with nothing kept of other rows
# Their work is one step for each server or model; the ceiling of a page says nothing about it.
IN_BULK = {"models-detect", "servers-refresh", "start-test"}


@dataclass(frozen=True)
class Counted:
    """What one request asked of the database; `again` holds what was asked several times, with how often."""

    status: int
    asked: int
    again: dict[str, int]


def populate(person: User) -> None:
    """Two servers with four models each, of which some were decided and tested; three chats; an MCP server."""
    for server in ServerFactory.create_batch(2):
        profiles = ModelProfileFactory.create_batch(4, server=server)
        for profile in profiles[:2]:
            overrides.add(NewOverride(profile.pk, "tools", True, actor=person.pk, reason="seen"))
            overrides.add(NewOverride(profile.pk, "vision", True, actor=person.pk, proposed=True))
        detections.open_test(DetectionRequest(profiles[0].pk, "page"))
    for conversation in ConversationFactory.create_batch(3, owner=person):
        answered_in(str(conversation.pk))
    McpToolFactory.create_batch(2, server=McpServerFactory())


@pytest.fixture
def administrator(db: None) -> Visitor:
    """Somebody whose pages show the most, signed in, on a site with some of everything."""
    person, client = visitor("admin")
    session = client.session
    session[factor_proof.KEY] = int(time.time())
    session.save()
    populate(person)
    return person, client


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row is read again, as on PostgreSQL; SQLite asks less often, while no row changes."""
    monkeypatch.setattr(row_cache, "_valid", lambda: None)


def counted(address: Address, verb: str, person: User, client: Client) -> Counted:
    """A request of an administrator for their own things."""
    url = reverse(address.name, args=[KINDS[name].own(person) for name in address.parameters])
    # What a page finds in memory; where it was just read for the page itself, the cheapest page will do.
    client.get(reverse("models" if verb == "get" else "shared"))
    quotas.table.rows()  # read every two seconds, by whichever page comes then
    sent = SENT.get(address.name, {}) if verb == "post" else {}
    with CaptureQueriesContext(connection) as captured:
        answered: Any = getattr(client, verb)(url, {**QUERIES.get(address.name, {}), **sent})
        put_away(answered)
    asked = [query["sql"] for query in captured if not query["sql"].startswith(MARKS)]
    return Counted(answered.status_code, len(asked), repeated(asked))


def repeated(asked: list[str]) -> dict[str, int]:
    """What was asked again, word for word, although nothing was written in between."""
    most: Counter[str] = Counter()
    since: Counter[str] = Counter()
    for sql in asked:
        if not sql.lstrip().upper().startswith("SELECT"):
            since.clear()
        since[sql] += 1
        most[sql] = max(most[sql], since[sql])
    return {sql: times for sql, times in most.items() if times > 1}


def faults(address: Address, visiting: Visitor) -> Iterator[str]:
    """Where an address asks more than it may."""
    person, client = visiting
    for verb in ("get", "post"):
        found, most = counted(address, verb, person, client), CEILINGS.get(f"{verb} {address.name}", 0)
        if found.status in REFUSED:
            continue
        if found.asked > most:
            yield f"{verb} {address.name}: {found.asked} queries, {most} allowed"
        for sql, times in found.again.items():
            if times > 2:
                yield f"{verb} {address.name}: {times} times {' '.join(sql.split())[:300]}"


@every("address", [one for one in AT_ONCE if one.name not in IN_BULK])
def test_a_page_asks_no_more_than_it_needs(address: Address, administrator: Visitor, out_there: None) -> None:
    with undone(administrator):
        assert list(faults(address, administrator)) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("address", [one for one in ALONE if one.id not in IN_BULK])
def test_a_page_that_waits_asks_no_more_than_it_needs(
    address: Address, administrator: Visitor, out_there: None
) -> None:
    assert list(faults(address, administrator)) == []


def chat_with_calls(person: User) -> tuple[Conversation, Turn]:
    """A chat with a memory and calls, whose model writes its calls as text."""
    profile = ModelProfileFactory()
    overrides.add(NewOverride(profile.pk, "tools", False, actor=person.pk, reason="seen"))
    chat = ConversationFactory(owner=person, profile=profile)
    Memory.objects.create(conversation=chat, text="Maria likes tea.", written_by=person)
    turn = Turn.objects.create(conversation=chat, client_id="one", profile=profile, status="done")
    asked = Message.objects.create(conversation=chat, role="user", content="Read it.", turn=turn)
    answer = Message.objects.create(conversation=chat, role="assistant", content="Done.", turn=turn, parent=asked)
    for number in range(2):
        ToolRun.objects.create(message=answer, turn=turn, name="read_file", call_id=f"c{number}", status="done")
    Conversation.objects.filter(pk=chat.pk).update(leaf=answer)
    return chat, turn


def test_the_pages_of_a_chat_with_calls_ask_no_more_often(administrator: Visitor) -> None:
    person, client = administrator
    chat, turn = chat_with_calls(person)
    answer = turn.messages.get(role="assistant")
    pages: dict[tuple[str, str], list[Any]] = {
        ("get", "conversation"): [chat.pk],
        ("get", "conversation-explain"): [chat.pk],
        ("post", "conversation-tools"): [chat.pk],
        ("get", "message-wire"): [chat.pk, answer.pk],
        ("get", "compare"): [turn.pk],
        ("get", "turn-case"): [turn.pk],
    }
    quotas.table.rows()
    for (verb, name), values in pages.items():
        with CaptureQueriesContext(connection) as captured:
            page = getattr(client, verb)(reverse(name, args=values))
        asked = [query["sql"] for query in captured if not query["sql"].startswith(MARKS)]
        assert page.status_code == 200 and len(asked) <= MOST, (name, page.status_code, asked)
        assert name not in ("conversation-explain", "turn-case") or "Maria likes tea." in page.content.decode(), name


def test_no_page_may_ask_more_than_twelve_times() -> None:
    assert {one: most for one, most in CEILINGS.items() if most > MOST} == {}


def test_the_ceilings_name_addresses_that_exist() -> None:
    names = {f"{verb} {address.name}" for address in ADDRESSES for verb in ("get", "post")}
    assert CEILINGS.keys() - names == set()


def test_a_page_that_asks_too_much_is_found(administrator: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    models = next(address for address in ADDRESSES if address.name == "models")
    monkeypatch.setitem(CEILINGS, "get models", 3)
    assert [fault for fault in faults(models, administrator) if "3 allowed" in fault]
