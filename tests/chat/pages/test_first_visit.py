"""The first visit: Alice may test and try, Bob may add what a task needs, Charlie may look."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from chat.models import Conversation, Message
from chat.transcript.conversations import first_tasks
from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from tests.markup import flat
from tests.toolsupport.registry.testing.test_evidence_overview import model, with_verdict
from toolsupport.core.errors import NotFound
from toolsupport.core.quota_rules import Quota
from toolsupport.models import Detection
from toolsupport.registry.people import quota_use, quotas
from toolsupport.registry.testing import detections
from toolsupport.registry.testing.detections import DetectionResult, TrialRecord

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
WROTE = TrialRecord("formats", 1, {}, {"subject": "hermes"}, True, "")


def page(client: Client, person: User) -> str:
    client.force_login(person)
    return flat(client.get(reverse("start")).content.decode())


def test_charlie_sees_the_evidence_and_can_start_nothing(client: Client, charlie: User) -> None:
    with_verdict(model("m", True), "native", {"passed": 3, "tried": 3})
    model("new", True)
    shown = page(client, charlie)
    assert "Calls tools 3 of 3" in shown and "Your role does not allow tests." in shown
    assert reverse("start-test") not in shown and reverse("start-ask") not in shown
    assert client.post(reverse("start-test")).status_code == 403
    assert client.post(reverse("start-ask"), {"task": "folder"}).status_code == 403


def test_alice_tests_what_has_no_verdict_yet(client: Client, alice: User) -> None:
    with_verdict(model("m", True), "native", {"passed": 3, "tried": 3})
    new = model("new", True)
    assert "Test the other model</button>" in page(client, alice)
    part = flat(client.post(reverse("start-test"), headers=HTMX).content.decode())
    assert 'hx-trigger="every 1s"' in part and "Testing: 1 of 2" in part
    assert list(Detection.objects.filter(status="queued").values_list("profile", "actor")) == [(new.pk, alice.pk)]
    assert client.post(reverse("start-test")).headers["Location"] == reverse("start")
    assert Detection.objects.filter(status="queued").count() == 1


def test_the_headline_counts_models_of_servers_that_claim_nothing(client: Client, alice: User) -> None:
    only = model("m", None)
    assert "model does not claim tools. <strong>Not tested yet." in page(client, alice)
    with_verdict(only, "native", {"passed": 3, "tried": 3})
    shown = page(client, alice)
    assert "tested model that does not claim tools" in shown and "works with them" in shown
    assert "claim tools. <strong>" not in shown


def test_models_that_do_not_chat_are_counted_beside_those_found(client: Client, alice: User) -> None:
    ModelProfileFactory(name="embeds:latest", server=ServerFactory(name="box"), abilities=["embedding"])
    shown = page(client, alice)
    assert "Found 0 models" in shown and "1 model does not chat, so it is not tested here." in shown
    assert "No server answers yet" not in shown
    model("m", True)
    ModelProfileFactory(name="ranks:latest", server=ServerFactory(name="shed"), abilities=["rerank"])
    shown = page(client, alice)
    assert "Found 1 model<" in shown and "On box of m. 2 more models do not chat, so they are not tested here." in shown


def test_the_first_visit_tests_what_ends_soon_and_then_offers_the_rest(client: Client, alice: User) -> None:
    server = ServerFactory(kind="ollama")
    for size in (1, 2, 40, 50):
        ModelProfileFactory(name=f"m{size}:latest", server=server, size_bytes=size * 10**9, abilities=["completion"])
    shown = page(client, alice)
    assert "Test 2 models" in shown and "About 25 s" in shown and '<button id="test-all" class="main">' in shown
    assert "2 models left out at first" in shown and "m40</a> <small>about 3 min" in shown
    part = flat(client.post(reverse("start-test"), headers=HTMX).content.decode())
    assert "Testing: 0 of 2" in part and "left-out" not in part
    assert list(Detection.objects.order_by("pk").values_list("profile__name", flat=True)) == ["m1:latest", "m2:latest"]
    for test in Detection.objects.order_by("pk"):
        assert detections.claim("worker") == test.pk
        detections.conclude(test.pk, "worker", DetectionResult("native", {"passed": 3, "tried": 3}, {}, "", run_ms=900))
    shown = page(client, alice)
    assert "Test the other 2 models" in shown and "2 models not tested yet" in shown
    assert '<button id="try-now" class="main">' in shown
    assert shown.count('class="main"') == 1


def test_results_that_the_headline_leaves_out_are_stated(client: Client, alice: User) -> None:
    with_verdict(model("calls", True), "native", {"passed": 3, "tried": 3})
    shown = page(client, alice)
    assert "Tested 1 of 1" in shown and "inconclusive" not in shown
    with_verdict(model("cut", True), "inconclusive", {})
    shown = page(client, alice)
    assert "Tested 2 of 2" in shown and "1<small> of 1</small>" in shown
    assert "1 result is inconclusive and not counted above." in shown


def test_a_page_that_shows_everything_already_gets_nothing(client: Client, alice: User) -> None:
    model("m", True)
    client.force_login(alice)
    part = client.post(reverse("start-test"), headers=HTMX).content.decode()
    seen = part.partition("?seen=")[2].partition('"')[0]
    assert client.get(reverse("start"), {"seen": seen}, headers=HTMX).status_code == 204
    other = client.get(reverse("start"), {"seen": "other"}, headers=HTMX)
    assert other.status_code == 200 and "<html" not in other.content.decode()


def test_a_task_takes_a_model_that_is_proven_for_it(alice: User, bob: User) -> None:
    ModelProfileFactory(name="untested", server=ServerFactory(name="shed"))
    with pytest.raises(NotFound, match="Test the models first"):
        first_tasks.prepare(alice, "folder", may_administer=False)
    with_verdict(model("calls", True), "native", {"passed": 3, "tried": 3})
    with_verdict(model("writes", False), "text", {"format": "hermes"}, WROTE)
    folder = first_tasks.prepare(alice, "folder", may_administer=False)
    chat = Conversation.objects.get(pk=folder.conversation)
    assert (chat.profile and chat.profile.name, folder.question) == ("calls:latest", "What's in this folder?")

    with pytest.raises(NotFound, match="An administrator must add the example database first"):
        first_tasks.prepare(alice, "database", may_administer=False)
    first_tasks.prepare(bob, "database", may_administer=True)
    orders = first_tasks.prepare(alice, "database", may_administer=False)
    chat = Conversation.objects.get(pk=orders.conversation)
    assert chat.profile and chat.profile.name == "writes:latest"

    swap = first_tasks.prepare(alice, "swap", may_administer=False)
    assert swap.conversation == orders.conversation and not swap.announced
    Conversation.objects.filter(pk=orders.conversation).delete()
    swap = first_tasks.prepare(alice, "swap", may_administer=False)
    assert swap.conversation == folder.conversation
    assert Message.objects.filter(conversation__id=folder.conversation, code="switched").count() == 1
    with pytest.raises(NotFound):
        first_tasks.prepare(alice, "nonsense", may_administer=False)


@pytest.mark.django_db(transaction=True)
def test_a_task_over_the_quota_is_refused_in_words(client: Client) -> None:  # P5
    person = UserFactory(role="user")
    client.force_login(person)
    with_verdict(model("calls", True), "native", {"passed": 3, "tried": 3})
    quotas.put("person", str(person.pk), Quota(requests_day=1))
    quota_use.spend(quotas.limited(person.pk))
    answer = client.post(reverse("start-ask"), {"task": "folder"})
    assert answer.status_code == 429 and "Your quota is used up: 1 request per day." in answer.content.decode()
