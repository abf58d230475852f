"""The page of a comparison: Alice's own answer; Bob, an administrator and Charlie, a viewer, do not see it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from chat.models import ComparedAnswer, Conversation, Turn
from chat.transcript.conversations import conversations
from chat.transcript.turns import comparisons
from tests.chat.finished_turns import asked
from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from toolsupport.core.errors import Busy
from toolsupport.core.quota_rules import Quota
from toolsupport.models import ModelProfile
from toolsupport.registry.people import quota_use, quotas

pytestmark = pytest.mark.django_db


@pytest.fixture
def models() -> list[ModelProfile]:
    server = ServerFactory(name="box", reachable=True)
    return [ModelProfileFactory(name=f"m:{n}", server=server) for n in range(8)]


@pytest.fixture
def turn(alice: User, models: list[ModelProfile], client: Client) -> Turn:
    client.force_login(alice)
    chat = Conversation.objects.get(pk=conversations.create(alice, models[0].pk))
    return asked(chat, "Read <b>a.txt</b>.", (("read_file", {"path": "a.txt"}, "text", "done"),))


def address(turn: Turn, name: str = "compare") -> str:
    return reverse(name, args=[turn.pk])


def answered(turn: Turn, path: str) -> ComparedAnswer:
    """The first compared answer, complete, with one call."""
    claimed = comparisons.claim("worker")
    assert claimed is not None
    call: Any = {"name": "read_file", "arguments": {"path": path}}
    replies = [{"calls": [call]}, {"text": "It is <i>short</i>."}]
    comparisons.conclude(claimed.id, "worker", {"replies": replies, "duration_ms": 1200, "output_tokens": 9})
    return ComparedAnswer.objects.get(pk=claimed.id)


def test_alice_compares_models_and_sees_what_differs(turn: Turn, models: list[ModelProfile], client: Client) -> None:
    page = client.get(address(turn)).content.decode()
    assert (
        "Read &lt;b&gt;a.txt&lt;/b&gt;." in page
        and "in the chat" in page
        and "hx-trigger" not in page.split("</main")[0]
    )
    chosen = {"model": [models[1].pk, models[2].pk]}
    page = client.post(address(turn), chosen, follow=True).content.decode()
    assert 'hx-trigger="every 1s"' in page and page.count(">waiting<") == 2
    answered(turn, "b.txt")
    page = client.get(address(turn), headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in page and "other calls" in page and ">different<" in page and ">missing<" in page
    assert "It is &lt;i&gt;short&lt;/i&gt;." in page and "9 tokens" in page
    client.post(address(turn, "compare-cancel"))
    answered_too = client.get(address(turn)).content.decode()
    assert ">cancelled<" in answered_too and "every 1s" not in answered_too


def test_complete_answers_are_formatted_as_in_the_chat(turn: Turn, models: list[ModelProfile], client: Client) -> None:
    client.post(address(turn), {"model": [models[1].pk]})
    claimed = comparisons.claim("worker")
    assert claimed is not None
    text = "It is **short**, <script>x</script> and\n\n| a |\n|---|\n| 1 |"
    comparisons.conclude(claimed.id, "worker", {"replies": [{"text": text}]})
    page = client.get(address(turn)).content.decode()
    answer = page.split(f'id="answer-{claimed.id}"')[1].split("</section>")[0]
    assert "<strong>short</strong>" in answer and "<td>1</td>" in answer
    assert "<script" not in answer and "**" not in answer


def test_the_better_model_is_chosen_for_the_chat_and_its_calls_become_a_case(
    turn: Turn, models: list[ModelProfile], client: Client
) -> None:
    client.post(address(turn), {"model": [models[3].pk]})
    answer = answered(turn, "b.txt")
    page = client.get(reverse("turn-case", args=[turn.pk]), {"answer": answer.pk}).content.decode()
    assert "b.txt" in page.split('name="expected"')[1].split("</textarea>")[0]
    back = client.post(address(turn, "compare-choose"), {"answer": answer.pk})
    assert back["Location"] == reverse("conversation", args=[turn.conversation_id])
    assert Conversation.objects.get(pk=turn.conversation_id).profile_id == models[3].pk


@pytest.mark.parametrize("number", [0, 7])
def test_one_to_six_models_are_compared(turn: Turn, models: list[ModelProfile], number: int, client: Client) -> None:
    chosen = {"model": [model.pk for model in models[:number]]}
    page = client.post(address(turn), chosen, follow=True).content.decode()
    assert "Choose 1 to 6 models." in page
    assert not ComparedAnswer.objects.exists()


def test_the_answers_that_one_person_waits_for_are_limited(alice: User, models: list[ModelProfile]) -> None:
    for number in range(3):
        chat = Conversation.objects.get(pk=conversations.create(alice, models[0].pk))
        made = asked(chat, f"Question {number}")
        if number < 2:
            comparisons.begin(alice, made.pk, [model.pk for model in models[:6]])
    with pytest.raises(Busy):
        comparisons.begin(alice, made.pk, [models[0].pk])


def test_each_compared_answer_counts_for_the_quota(
    alice: User, turn: Turn, models: list[ModelProfile], client: Client
) -> None:  # P5
    quotas.put("person", str(alice.pk), Quota(requests_day=3, tokens_day=9_000))

    def used() -> list[int]:
        return [share.used for share in quota_use.shares(quotas.limited(alice.pk)[0])]

    page = client.post(address(turn), {"model": [model.pk for model in models[:4]]}, follow=True).content.decode()
    assert "Your quota is used up: 3 requests per day." in page and not ComparedAnswer.objects.exists()
    assert used() == [0, 0]
    client.post(address(turn), {"model": [model.pk for model in models[:3]]})
    assert used() == [3, 0]
    comparisons.release(answered(turn, "b.txt").pk, "worker")
    assert used() == [3, 9]
    for ended, wanted in (({"error": "It is away."}, [2, 9]), ({"replies": [{"text": "a" * 4_000}]}, [2, 1_009])):
        claimed = comparisons.claim("worker")
        assert claimed is not None and comparisons.conclude(claimed.id, "worker", ended)
        comparisons.release(claimed.id, "worker")
        assert used()[0] == wanted[0] and wanted[1] <= used()[1] < wanted[1] + 2_000


@pytest.mark.parametrize("role", ["user", "admin", "viewer"])
def test_nobody_else_sees_or_uses_it(turn: Turn, models: list[ModelProfile], role: str, client: Client) -> None:
    client.post(address(turn), {"model": [models[1].pk]})
    answer = answered(turn, "a.txt").pk
    client.force_login(UserFactory(role=role))
    sent = {"model": [models[1].pk], "answer": answer}
    found = [client.get(address(turn))] + [
        client.post(address(turn, name), sent) for name in ("compare", "compare-cancel", "compare-choose")
    ]
    assert {one.status_code for one in found} == {403 if role == "viewer" else 404}
