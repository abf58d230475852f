"""Rules of strict servers for the body of a request; each check fails with the fault.

The rules are written after the servers' documents, error texts and templates, and read nothing but the JSON that goes
over the wire: no code of the product is used here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

LONGEST_ID = 64  # characters; some of OpenAI's servers take 40
Body = dict[str, Any]
Said = list[dict[str, Any]]


def spoken(body: Body) -> Said:
    """The messages after the system message, which may only be the first."""
    messages: Said = body["messages"]
    rest = messages[1:] if messages and messages[0]["role"] == "system" else messages
    assert rest and all(message["role"] in ("user", "assistant", "tool") for message in rest)
    assert all(isinstance(message["content"], str | list) for message in messages), "content must not be null"
    return rest


def results_follow(rest: Said) -> None:
    """OpenAI: 'tool_calls' must be followed by tool messages responding to each 'tool_call_id', and by nothing else."""
    waiting: list[str] = []
    for message in rest:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting, "a result without its call"
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting, "calls without a result"
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        assert message.get("tool_calls") != [], "an empty list of calls"
    assert not waiting, "calls without a result"


def calls_of(rest: Said) -> list[dict[str, Any]]:
    return [call for message in rest for call in message.get("tool_calls", ())]


def any_openai(body: Body) -> None:
    rest = spoken(body)
    results_follow(rest)
    for call in calls_of(rest):
        assert call["type"] == "function" and call["id"]
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["function"]["name"])
        assert isinstance(json.loads(call["function"]["arguments"]), dict)
    assert body.get("tools") != []


def openai(body: Body) -> None:
    any_openai(body)
    assert all(len(call["id"]) <= LONGEST_ID for call in calls_of(spoken(body))), "string too long"


def mistral(body: Body) -> None:
    """Expected last role User or Tool; Unexpected role 'user' after role 'tool'; ids of a-z, A-Z, 0-9, length 9."""
    openai(body)
    rest = spoken(body)
    assert rest[-1]["role"] in ("user", "tool")
    follows = {"": ("user",), "user": ("assistant",), "assistant": ("user", "tool"), "tool": ("tool", "assistant")}
    last = ""
    for message in rest:
        assert message["role"] in follows[last], f"{message['role']} after {last}"
        assert message["role"] != "assistant" or message["content"] or message.get("tool_calls")
        last = message["role"]
    ids = [call["id"] for call in calls_of(rest)]
    assert all(re.fullmatch(r"[a-zA-Z0-9]{9}", one) for one in ids) and len(set(ids)) == len(ids)


def gemini(body: Body) -> None:
    """A turn of function calls comes immediately after a user turn or after a function response turn."""
    openai(body)
    rest = spoken(body)
    assert rest[0]["role"] == "user", "contents begin with a user turn"
    for before, message in pairwise(rest):
        assert not message.get("tool_calls") or before["role"] in ("user", "tool"), "calls after the model's own turn"
    assert all(message["content"] for message in rest if message["role"] == "user"), "an empty part"


def messages(body: Body) -> None:
    """Anthropic's Messages behind a facade: results become blocks of the next user message, roles alternate."""
    openai(body)
    turns: list[tuple[str, list[tuple[str, str]]]] = []
    for message in spoken(body):
        role = "assistant" if message["role"] == "assistant" else "user"
        blocks = [("result", message["tool_call_id"])] if message["role"] == "tool" else []
        if message["role"] != "tool" and message["content"]:
            assert message["content"].strip(), "text content blocks must contain non-whitespace text"
            blocks = [("text", message["content"])]
        blocks += [("use", call["id"]) for call in message.get("tool_calls", ())]
        assert blocks, "all messages must have non-empty content"
        if turns and turns[-1][0] == role == "user":
            turns[-1][1].extend(blocks)
            continue
        turns.append((role, blocks))
    assert [role for role, _ in turns] == [("user", "assistant")[at % 2] for at in range(len(turns))]
    used = [one for _, blocks in turns for kind, one in blocks if kind == "use"]
    assert len(set(used)) == len(used) and all(re.fullmatch(r"[a-zA-Z0-9_-]+", one) for one in used)
    for (_, blocks), (_, following) in zip(turns, [*turns[1:], ("", [])], strict=False):
        wanted = {one for kind, one in blocks if kind == "use"}
        assert wanted == {one for kind, one in following if kind == "result"}, "tool_use ids without tool_result"


def mistral_template(body: Body) -> None:
    """The template of Mistral 7B v0.3: users and answers without calls alternate; it raises for other ids."""
    openai(body)
    at = 0
    for message in spoken(body):
        if message["role"] == "tool" or message.get("tool_calls"):
            continue
        assert (message["role"] == "user") == (at % 2 == 0), "roles must alternate user/assistant"
        at += 1
    assert all(len(call["id"]) == 9 and call["id"].isalnum() for call in calls_of(spoken(body)))


def llama3_template(body: Body) -> None:
    openai(body)
    several = [message for message in spoken(body) if len(message.get("tool_calls", ())) > 1]
    assert not several, "This model only supports single tool-calls at once!"


def kimi_template(body: Body) -> None:
    any_openai(body)
    calls = calls_of(spoken(body))
    assert [call["id"] for call in calls] == [f"functions.{one['function']['name']}:{n}" for n, one in enumerate(calls)]


def gemma_template(body: Body) -> None:
    """Conversation roles must alternate user/assistant/user/assistant/…, and there is no role for tools."""
    rest = spoken(body)
    assert [message["role"] for message in rest] == [("user", "assistant")[at % 2] for at in range(len(rest))]
    assert not calls_of(rest) and not body.get("tools")
    assert all(message["content"].strip() for message in rest)


def ollama(body: Body) -> None:
    """Arguments are objects (a string cannot be unmarshalled), contents texts, results follow their calls."""
    rest = spoken(body)
    waiting: list[tuple[str, str]] = []
    for message in rest:
        assert isinstance(message["content"], str)
        if message["role"] == "tool":
            waiting.remove((message["tool_call_id"], message["tool_name"]))
            continue
        assert not waiting, "calls without a result"
        waiting = [(call["id"], call["function"]["name"]) for call in message.get("tool_calls", ())]
        assert all(isinstance(call["function"]["arguments"], dict) for call in message.get("tool_calls", ()))
    assert not waiting and body.get("tools") != []


# Kind of server, model, call format of our choice ("" for the server's own) → its rules.
TARGETS: dict[tuple[str, str, str], Callable[[Body], None]] = {
    ("ollama", "qwen3:8b", ""): ollama,
    ("openai.com", "gpt-4.1", ""): openai,
    ("mistral", "mistral-large-latest", ""): mistral,
    ("gemini", "gemini-2.5-flash", ""): gemini,
    ("openrouter", "anthropic/claude-sonnet-4", ""): messages,
    ("llamacpp", "mistral-7b-instruct-v0.3", ""): mistral_template,
    ("llamacpp", "llama-3.1-8b-instruct", ""): llama3_template,
    ("vllm", "moonshotai/Kimi-K2-Instruct", ""): kimi_template,
    ("llamacpp", "gemma-2-9b-it", "hermes"): gemma_template,
    ("llamacpp", "gemma-2-2b-it", "pure_json"): gemma_template,
    ("ollama", "gemma3:1b", "none"): gemma_template,
}
