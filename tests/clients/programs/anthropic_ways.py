"""A two-round tool loop with the anthropic package: whole, streamed, and event by event."""

from __future__ import annotations

import json
import sys

from anthropic import Anthropic

BASE, KEY, *MODELS = sys.argv[1:]
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
LIST = {"name": "list_directory", "description": "Lists a folder.", "input_schema": PATH}
# A tool of the hosted service, which agents send along.
SEARCH = {"type": "web_search_20250305", "name": "web_search"}
QUESTION = {"role": "user", "content": "What's in this folder?"}
client = Anthropic(base_url=BASE.removesuffix("/v1"), api_key=KEY)


def calls(message):
    return [block for block in message.content if block.type == "tool_use"]


def called(message):
    return [[call.name, call.input] for call in calls(message)]


def text(message):
    return "".join(block.text for block in message.content if block.type == "text")


def following(message):
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": "config.json"} for call in calls(message)]
    return [QUESTION, {"role": "assistant", "content": message.content}, {"role": "user", "content": results}]


def ask(model, messages, **fields):
    return client.messages.create(model=model, max_tokens=500, messages=messages, tools=[LIST], **fields)


def whole(model):
    assert client.messages.count_tokens(model=model, messages=[QUESTION], tools=[LIST]).input_tokens > 0
    first = client.messages.create(model=model, max_tokens=500, messages=[QUESTION], tools=[LIST, SEARCH])
    assert first.stop_reason == "tool_use"
    last = ask(model, following(first))
    assert last.stop_reason == "end_turn"
    return [called(first), text(last)]


def streamed(model):
    def message(asked):
        with client.messages.stream(model=model, max_tokens=500, messages=asked, tools=[LIST]) as stream:
            return stream.get_final_message()

    first = message([QUESTION])
    return [called(first), text(message(following(first)))]


def event_by_event(model):
    """Blocks come one after the other, and their pieces make up the whole."""
    kinds, written, open_block = [], {}, None
    for event in ask(model, [QUESTION], stream=True):
        kinds.append(event.type)
        if event.type == "content_block_start":
            assert open_block is None
            open_block = event.index
        elif event.type == "content_block_delta":
            assert event.index == open_block
            written[event.index] = written.get(event.index, "") + getattr(event.delta, "partial_json", "")
        elif event.type == "content_block_stop":
            open_block = None
    assert kinds[0] == "message_start" and kinds[-2:] == ["message_delta", "message_stop"]
    arguments = [json.loads(one) for one in written.values() if one]
    return [[["list_directory", one] for one in arguments], whole(model)[1]]


print(json.dumps({way.__name__: {model: way(model) for model in MODELS} for way in (whole, streamed, event_by_event)}))
