"""A two-round tool loop with the Responses API of the openai package: whole, streamed, and event by event."""

from __future__ import annotations

import json
import sys

from openai import OpenAI

BASE, KEY, *MODELS = sys.argv[1:]
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
LIST = {"type": "function", "name": "list_directory", "description": "Lists a folder.", "parameters": PATH}
# A tool of the hosted service, which agents send along.
SEARCH = {"type": "web_search"}
QUESTION = {"role": "user", "content": "What's in this folder?"}
client = OpenAI(base_url=BASE, api_key=KEY)


def calls(response):
    return [one for one in response.output if one.type == "function_call"]


def called(response):
    return [[call.name, json.loads(call.arguments)] for call in calls(response)]


def following(response):
    """The conversation after the answer: its items as they came, and a result for each call."""
    results = [
        {"type": "function_call_output", "call_id": call.call_id, "output": "config.json"} for call in calls(response)
    ]
    return [QUESTION, *(item.model_dump(exclude_none=True) for item in response.output), *results]


def whole(model):
    first = client.responses.create(model=model, input=[QUESTION], tools=[LIST, SEARCH], store=False)
    assert first.status == "completed" and first.store is False
    last = client.responses.create(model=model, input=following(first), tools=[LIST], store=False)
    return [called(first), last.output_text]


def streamed(model):
    def response(asked):
        with client.responses.stream(model=model, input=asked, tools=[LIST]) as stream:
            return stream.get_final_response()

    first = response([QUESTION])
    return [called(first), response(following(first)).output_text]


def event_by_event(model):
    """What the events say must be what the last one holds."""
    arguments, text, last = {}, "", None
    for number, event in enumerate(client.responses.create(model=model, input=[QUESTION], tools=[LIST], stream=True)):
        assert event.sequence_number == number
        if event.type == "response.function_call_arguments.delta":
            arguments[event.item_id] = arguments.get(event.item_id, "") + event.delta
        last = event
    first = last.response
    assert last.type == "response.completed" and first.usage.total_tokens > 0
    assert [arguments[call.id] for call in calls(first)] == [call.arguments for call in calls(first)]
    for event in client.responses.create(model=model, input=following(first), tools=[LIST], stream=True):
        text += event.delta if event.type == "response.output_text.delta" else ""
    return [called(first), text]


print(json.dumps({way.__name__: {model: way(model) for model in MODELS} for way in (whole, streamed, event_by_event)}))
