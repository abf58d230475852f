"""Chats whose model was changed anywhere, between a call and its result too: no strict server refuses their history."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from chat.models import Conversation, Turn
from chat.statuses import CallStatus
from chat.transcript.messages import history
from chat.transcript.settings import turn_settings
from tests.chat import strict_wires
from tests.chat.strict_wires import TARGETS
from tests.factories import ConversationFactory, ModelProfileFactory, OverrideFactory, ServerFactory, UserFactory
from toolsupport import exchange, providers
from toolsupport.core.types import RequestSpec
from toolsupport.models import ModelProfile

pytestmark = pytest.mark.django_db
Target = tuple[str, str, str]
# Ids as servers write them: none of Ollama's old versions, llama-server's, OpenAI's, Mistral's, Anthropic's, Kimi's.
IDS = (
    *("{n}", "", "call_{n}", "aB3dE6g{n:02}", "toolu_01{n}", "x" * 32 + "{n}"),
    *("functions.read_file:{n}", "functions.web.search:{n}", "a.b:{n}", "y" * 70 + "{n}"),
)
NAMES = ("read_file", "list_directory", "bash", "web search!", "tool.with.dots", "f" * 90)
TEXTS = ("", " ", "Let me see.", "One\n\ntwo", "Ein Umlaut: ü", '{"name": "read_file"}', "<tool_call>")
STATUSES = sorted(CallStatus)


class Chat:
    """A conversation that grows by finished, stopped and interrupted turns of different models."""

    def __init__(self, seed: int, owner: Any, models: list[ModelProfile]) -> None:
        self.random, self.models = Random(seed), models
        self.row: Conversation = ConversationFactory(owner=owner, profile=models[0])
        for _ in range(self.random.randint(1, 4)):
            self.turn()

    def add(self, turn: Turn | None, role: str, content: str, **more: Any) -> Any:
        made = self.row.messages.create(role=role, content=content, turn=turn, parent_id=self.row.leaf_id, **more)
        self.row.leaf = made
        return made

    def turn(self) -> None:
        """One turn, which ends anywhere: before an answer, after a call, between two calls, or with an answer."""
        pick = self.random
        model = pick.choice(self.models)
        turn = self.row.turns.create(client_id=str(self.row.turns.count()), profile=model, status="done")
        self.add(turn, "user", pick.choice(TEXTS) or "?")
        for _ in range(pick.randint(0, 3)):
            if pick.random() < 0.2:
                self.add(turn, "notice", "Switched.", code="switched")
            answer = self.add(turn, "assistant", pick.choice(TEXTS), thinking=pick.choice(("", "Hm.")))
            for n in range(pick.randint(0, 3)):
                self.call(turn, answer, n)
        if pick.random() < 0.6:
            self.add(turn, "assistant", pick.choice(TEXTS))

    def call(self, turn: Turn, answer: Any, n: int) -> None:
        pick = self.random
        call_id = pick.choice(IDS).format(n=n) + (str(n) if answer.tool_runs.exists() else "")
        status = pick.choice(STATUSES)
        result = pick.choice(("", "a result", "42")) if status == CallStatus.DONE else ""
        values = {"path": "notes.md", "n": n, "deep": {"list": [1, "ü", None]}}
        answer.tool_runs.create(
            turn=turn, call_id=call_id, name=pick.choice(NAMES), arguments=values, status=status, result=result
        )

    def refusal(self, target: Target, spec: RequestSpec) -> str:
        """Why the server of a target refuses the chat with a new question, "" if it does not."""
        self.add(None, "user", "Go on.")
        body = wire_body(target[0], spec, history.log_of(self.row).messages)
        try:
            TARGETS[target](body)
        except (AssertionError, ValueError, KeyError) as refused:
            return f"{target}: {refused!r}: {json.dumps(body['messages'])[:2000]}"
        return ""


def wire_body(kind: str, spec: RequestSpec, log: Any) -> dict[str, Any]:
    """The JSON of the request as it goes over the wire."""
    found: dict[str, Any] = json.loads(providers.codec(kind).encode(exchange.make_request(spec, log)))
    return found


def model_of(target: Target) -> ModelProfile:
    kind, name, text = target
    made: ModelProfile = ModelProfileFactory(server=ServerFactory(kind=kind), name=name)
    OverrideFactory(profile=made, capability="tools", value=not text)
    if text not in ("", "none"):
        OverrideFactory(profile=made, capability="format", value=text)
    return made


def refusals(chats: int, first: int = 0) -> tuple[int, list[str]]:
    """How many requests were made for this number of chats, and what was refused."""
    owner = UserFactory(role="user")
    models = {target: model_of(target) for target in TARGETS}
    specs = {target: of_model(owner, model) for target, model in models.items()}
    made, refused = 0, []
    for seed in range(first, first + chats):
        chat = Chat(seed, owner, list(models.values()))
        for target in chat.random.sample(list(TARGETS), len(TARGETS)):
            made += 1
            refused.append(chat.refusal(target, specs[target]))
            chat.turn()
    return made, [one for one in refused if one]


def of_model(owner: Any, model: ModelProfile) -> RequestSpec:
    return turn_settings.prepared(ConversationFactory(owner=owner, profile=model)).request_spec


def test_each_target_gets_its_tools_in_its_own_way() -> None:
    owner = UserFactory(role="user")
    for target in TARGETS:
        wanted = {"": "native", "none": ""}.get(target[2], target[2])
        spec = of_model(owner, model_of(target))
        assert (spec.format if spec.offers_tools else "") == wanted, target


# F7
def test_no_strict_server_refuses_a_chat_after_changes_of_the_model() -> None:
    made, refused = refusals(15)
    assert (made, refused) == (15 * len(TARGETS), [])


@pytest.mark.nightly
def test_no_strict_server_refuses_any_of_a_thousand_chats() -> None:
    made, refused = refusals(1000, first=1000)
    assert (made, refused) == (1000 * len(TARGETS), [])


USER, ANSWER = {"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}


def calling(*ids: str) -> dict[str, Any]:
    calls = [{"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in ids]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "content": "r", "tool_call_id": call_id}


REFUSED = {
    "openai": [USER, calling("abcdefgh1"), USER],
    "mistral": [USER, calling("call_0"), result("call_0")],
    "gemini": [USER, ANSWER, calling("abcdefgh1"), result("abcdefgh1")],
    "messages": [USER, ANSWER, ANSWER, USER],
    "mistral_template": [USER, USER],
    "llama3_template": [USER, calling("a", "b"), result("a"), result("b")],
    "kimi_template": [USER, calling("a"), result("a")],
    "gemma_template": [USER, calling("a"), result("a")],
    "ollama": [USER, calling("a"), USER],
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_each_check_can_refuse(name: str) -> None:
    assert {check.__name__ for check in TARGETS.values()} == set(REFUSED)
    with pytest.raises(AssertionError):
        getattr(strict_wires, name)({"messages": REFUSED[name]})
