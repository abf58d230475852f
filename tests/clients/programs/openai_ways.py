"""A two-round tool loop with the openai package: whole, streamed, and without waiting in line."""

from __future__ import annotations

import asyncio
import json
import sys

from openai import AsyncOpenAI, OpenAI

BASE, KEY, *MODELS = sys.argv[1:]
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
FUNCTION = {"name": "list_directory", "description": "Lists a folder.", "parameters": PATH}
LIST = {"type": "function", "function": FUNCTION}
HELLO = {"role": "user", "content": "Hello"}
QUESTION = {"role": "user", "content": "What's in this folder?"}
client, waiting = OpenAI(base_url=BASE, api_key=KEY), AsyncOpenAI(base_url=BASE, api_key=KEY)


def result(call):
    return {"role": "tool", "tool_call_id": call.id, "content": "config.json"}


def called(message):
    return [[call.function.name, json.loads(call.function.arguments)] for call in message.tool_calls]


def whole(model):
    asked = [QUESTION]
    first = client.chat.completions.create(model=model, messages=asked, tools=[LIST]).choices[0].message
    asked += [first, *map(result, first.tool_calls)]
    return [
        called(first),
        client.chat.completions.create(model=model, messages=asked, tools=[LIST]).choices[0].message.content,
    ]


def streamed(model):
    def message(asked):
        with client.chat.completions.stream(model=model, messages=asked, tools=[LIST]) as stream:
            return stream.get_final_completion().choices[0].message

    first = message([QUESTION])
    return [called(first), message([QUESTION, first, *map(result, first.tool_calls)]).content]


def piece_by_piece(model):
    text, names, arguments = "", {}, {}
    for piece in client.chat.completions.create(
        model=model, messages=[QUESTION], tools=[LIST], stream=True, stream_options={"include_usage": True}
    ):
        for call in piece.choices[0].delta.tool_calls or [] if piece.choices else []:
            names[call.index] = names.get(call.index) or call.function.name
            arguments[call.index] = arguments.get(call.index, "") + (call.function.arguments or "")
    assert piece.usage.total_tokens > 0
    for piece in client.chat.completions.create(model=model, messages=[HELLO], stream=True):
        text += piece.choices[0].delta.content or ""
    assert text
    return [[[names[index], json.loads(arguments[index])] for index in names], whole(model)[1]]


def without_waiting(model):
    async def both():
        asked = [QUESTION]
        first = (await waiting.chat.completions.create(model=model, messages=asked, tools=[LIST])).choices[0].message
        asked += [first, *map(result, first.tool_calls)]
        async with waiting.chat.completions.stream(model=model, messages=asked, tools=[LIST]) as stream:
            return [called(first), (await stream.get_final_completion()).choices[0].message.content]

    return both()


async def all_without_waiting():
    return {model: await without_waiting(model) for model in MODELS}


ways = {way.__name__: {model: way(model) for model in MODELS} for way in (whole, streamed, piece_by_piece)}
print(json.dumps(ways | {"without_waiting": asyncio.run(all_without_waiting())}))
