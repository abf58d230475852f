"""Two calls at once, a failed call, images and errors with the packages openai and anthropic, whole and streamed."""

from __future__ import annotations

import json
import sys

import anthropic
import openai

BASE, KEY, PICTURE, *MODELS = sys.argv[1:]
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = {"list_directory": "Lists the files of a folder.", "read_file": "Returns the text of a file."}
QUESTION = "List this folder and read config.json"
RESULTS = {"list_directory": "config.json", "read_file": '{"version": "1.0"}'}
FAILED = "Error: no such file"
openai_client = openai.OpenAI(base_url=BASE, api_key=KEY, max_retries=0)
anthropic_client = anthropic.Anthropic(base_url=BASE.removesuffix("/v1"), api_key=KEY, max_retries=0)


class Chat:
    """Chat completions."""

    errors = openai

    def __init__(self, model, stream):
        self.model, self.stream, self.messages = model, stream, []

    def person(self, text, image=""):
        parts = [{"type": "text", "text": text}]
        if image:
            parts.append({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{image}"}})
        self.messages.append({"role": "user", "content": parts})

    def answer(self):
        tools = [
            {"type": "function", "function": {"name": name, "description": words, "parameters": PATH}}
            for name, words in TOOLS.items()
        ]
        asked = {"model": self.model, "messages": self.messages, "tools": tools}
        if self.stream:
            with openai_client.chat.completions.stream(**asked) as stream:
                message = stream.get_final_completion().choices[0].message
        else:
            message = openai_client.chat.completions.create(**asked).choices[0].message
        self.messages.append(message)
        self.text = message.content or ""
        calls = message.tool_calls or []
        return [(call.id, call.function.name, json.loads(call.function.arguments)) for call in calls]

    def results(self, results):
        self.messages += [{"role": "tool", "tool_call_id": id, "content": text} for id, text in results]


class Responses(Chat):
    """Responses."""

    def person(self, text, image=""):
        parts = [{"type": "input_text", "text": text}]
        if image:
            parts.append({"type": "input_image", "image_url": f"data:image/png;base64,{image}", "detail": "auto"})
        self.messages.append({"role": "user", "content": parts})

    def answer(self):
        tools = [
            {"type": "function", "name": name, "description": words, "parameters": PATH}
            for name, words in TOOLS.items()
        ]
        asked = {"model": self.model, "input": self.messages, "tools": tools}
        if self.stream:
            with openai_client.responses.stream(**asked) as stream:
                response = stream.get_final_response()
        else:
            response = openai_client.responses.create(**asked)
        self.messages += [item.model_dump(exclude_none=True) for item in response.output]
        self.text = response.output_text
        calls = [item for item in response.output if item.type == "function_call"]
        return [(call.call_id, call.name, json.loads(call.arguments)) for call in calls]

    def results(self, results):
        self.messages += [{"type": "function_call_output", "call_id": id, "output": text} for id, text in results]


class Messages(Chat):
    """Messages."""

    errors = anthropic

    def person(self, text, image=""):
        parts = [{"type": "text", "text": text}]
        if image:
            source = {"type": "base64", "media_type": "image/png", "data": image}
            parts.append({"type": "image", "source": source})
        self.messages.append({"role": "user", "content": parts})

    def answer(self):
        tools = [{"name": name, "description": words, "input_schema": PATH} for name, words in TOOLS.items()]
        asked = {"model": self.model, "messages": self.messages, "tools": tools, "max_tokens": 1000}
        if self.stream:
            with anthropic_client.messages.stream(**asked) as stream:
                message = stream.get_final_message()
        else:
            message = anthropic_client.messages.create(**asked)
        self.messages.append({"role": "assistant", "content": message.content})
        self.text = "".join(block.text for block in message.content if block.type == "text")
        return [(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"]

    def results(self, results):
        blocks = [
            {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": text == FAILED}
            for id, text in results
        ]
        self.messages.append({"role": "user", "content": blocks})


def at_once(talk):
    """Two calls in one answer, and the answer to both results."""
    talk.person(QUESTION)
    calls = talk.answer()
    talk.results([(id, RESULTS[name]) for id, name, _ in calls])
    assert talk.answer() == []
    return [[[name, arguments] for _, name, arguments in calls], "config.json" in talk.text and "1.0" in talk.text]


def failing(talk):
    """The error of a call reaches the model."""
    talk.person("Read config.json")
    calls = talk.answer()
    talk.results([(id, FAILED) for id, *_ in calls])
    assert talk.answer() == []
    return [[[name, arguments] for _, name, arguments in calls], "no such file" in talk.text]


def seeing(talk):
    """An image reaches a model that sees, with tools on offer."""
    talk.model = "sim-sees"
    talk.person("What do you see?", PICTURE)
    assert talk.answer() == []
    return talk.text


def refused(talk):
    """Errors come as those of the package: an unknown model, a stream that breaks."""
    found = []
    for model in ("no-such-model", "sim-dies"):
        talk.model, talk.messages = model, []
        talk.person("Tell me a long story with an error in mid-stream")
        try:
            talk.answer()
            found.append("none")
        except talk.errors.NotFoundError:
            found.append("not found")
        except (talk.errors.APIError, RuntimeError):
            # The package's helper for streams of Responses has a RuntimeError of its own for `response.failed`.
            found.append("failed")
    return found


told = {}
for api in (Chat, Responses, Messages):
    for stream in (False, True):
        name = f"{api.__doc__} {'streamed' if stream else 'whole'}"
        told[name] = {way.__name__: {model: way(api(model, stream)) for model in MODELS} for way in (at_once, failing)}
        told[name] |= {way.__name__: way(api("", stream)) for way in (seeing, refused)}
print(json.dumps(told))
