"""Writes the body of a request to an OpenAI-compatible /v1/chat/completions."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import orjson

from toolsupport.core import exact_json
from toolsupport.core.constrained import closed
from toolsupport.core.errors import ToolsupportError
from toolsupport.core.grammar_schemas import for_grammar
from toolsupport.core.identity_cache import IdentityCache
from toolsupport.core.types import JSON, ChatMessage, Request, Role, Signature, ToolCall, ToolSpec
from toolsupport.providers.reasoning_blocks import ENCRYPTED


@dataclass(frozen=True, slots=True)
class OpenAIDialect:
    """Differences between servers; every server accepts the defaults.

    `think` is a key of THINKING, "" if the protocol cannot switch it. `thoughts` names the field of an earlier message
    in which its reasoning is sent back, "" if that is refused; `needs_thoughts`: it may not be missing or empty in any
    of them. `renamed` maps names of our options to the server's.
    `asks_usage`: the token count must be requested. `tool_choice` and `parallel`: the server honours them.
    `thoughts_too` is a second field for the same reasoning, which its versions named differently.
    `marks_prefix`: it refuses an answer as the last message without this mark, with which the reply continues it.
    `strict`: it can force arguments to fit the schema of a tool. `own_temperature` matches models that reject a
    temperature. `schema` is a key of SCHEMAS, "" if the reply cannot be constrained to one. `format_beside_tools`: a
    `response_format` beside tools limits the words of the reply only, never its calls. `signed` matches models that
    refuse a history whose calls have no signature; with `blocks`, signatures are in `reasoning_details`. `grammar`: it
    turns the schemas of tools into a grammar, and refuses a request if it cannot.
    """

    think: str = ""
    thoughts: str = ""
    needs_thoughts: bool = False
    renamed: Mapping[str, str] | None = None
    asks_usage: bool = True
    tool_choice: bool = False
    parallel: bool = False
    thoughts_too: str = ""
    marks_prefix: bool = False
    strict: bool = False
    own_temperature: str = ""
    schema: str = "open"
    format_beside_tools: bool = False
    signed: str = ""
    blocks: bool = False
    grammar: bool = False


PLAIN = OpenAIDialect()

# Our name of an option → the protocol's. Others, such as num_ctx, have no field in this protocol and are left out.
OPTIONS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "stop": "stop",
    "max_tokens": "max_tokens",
    "num_predict": "max_tokens",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "response_format": "response_format",
}
CHOICES = {"auto": "auto", "required": "required", "any": "required"}
# Google's value for calls of another model, program or turn, of which a history holds no signature.
UNSIGNED = "skip_thought_signature_validator"
MEDIA = ((b"\x89PNG", "png"), (b"\xff\xd8", "jpeg"), (b"GIF8", "gif"), (b"RIFF", "webp"))


def encode(request: Request, dialect: OpenAIDialect) -> bytes:
    """Return the JSON body.

    Raises ToolsupportError for forbidden tools, ValueError for values JSON cannot represent.
    """
    if why := request.forbidden():
        raise ToolsupportError(why)
    body: JSON = {
        "model": request.model,
        "messages": _messages(request, dialect),
        "stream": request.stream,
    }
    if request.stream and dialect.asks_usage and "stream_options" not in request.left_out:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body |= _choice(request.options, dialect)
    body |= _options(request, dialect)
    if request.schema is not None and dialect.schema:
        body["response_format"] = SCHEMAS[dialect.schema](request.schema)
    body |= _thinking(request, dialect)
    try:
        if request.tools:
            body["tools"] = orjson.Fragment(written_tools(request.tools, dialect))
        return orjson.dumps(body | _prefix(body["messages"], dialect))
    except orjson.JSONEncodeError as error:
        raise ValueError(f"The request cannot be written as JSON: {error}.") from error


def _messages(request: Request, dialect: OpenAIDialect) -> list[JSON]:
    if "thoughts" in request.left_out:
        dialect = replace(dialect, thoughts="reasoning_content", needs_thoughts=True)
    written = [WRITERS[message.role](message, dialect) for message in request.messages]
    demanded = "signatures" in request.left_out or bool(dialect.signed and re.match(dialect.signed, request.model))
    for message, sent in zip(request.messages, written, strict=True):
        if not message.calls:
            continue
        signatures = [_own_signature(call, request) for call in message.calls]
        blocks = signatures[0].blocks
        if demanded and dialect.blocks and not any(block["type"] == ENCRYPTED for block in blocks):
            blocks = (*blocks, *_placeholders(message, len(blocks)))
        elif demanded and not dialect.blocks:
            _sign(sent["tool_calls"], signatures)
        if blocks:
            sent["reasoning_details"] = blocks
            sent.pop(dialect.thoughts, None)  # one of the two is read
    return written


def _own_signature(call: ToolCall, request: Request) -> Signature:
    """Return the signature of a call that the asked model wrote at this server, an empty one for any other."""
    own, asked = call.signature, (request.model, request.account)
    readable = own is not None and (own.model, own.account) == asked and "signatures" not in request.left_out
    return own if own is not None and readable else Signature(request.model)


def _placeholders(message: ChatMessage, first: int) -> list[JSON]:
    block = {"type": ENCRYPTED, "format": "google-gemini-v1", "data": UNSIGNED}
    return [block | {"id": call.id, "index": first + number} for number, call in enumerate(message.calls)]


def _sign(calls: list[JSON], signatures: list[Signature]) -> None:
    """Add Google's signatures to written calls. Its models look for one on the first call only."""
    for call, signature in zip(calls, signatures, strict=True):
        if text := signature.text or (UNSIGNED if call is calls[0] else ""):
            call["extra_content"] = {"google": {"thought_signature": text}}


def written_tools(tools: tuple[ToolSpec, ...], dialect: OpenAIDialect) -> bytes:
    """Return the JSON of these tools, b"" without any."""
    return _written_tools[dialect.strict, dialect.grammar].of(tools) if tools else b""


def _write_tools(tools: tuple[ToolSpec, ...], strict: bool, grammar: bool) -> bytes:
    return orjson.dumps([_tool(for_grammar(tool) if grammar else tool, strict) for tool in tools])


# A chat offers the same tools in each request.
_written_tools: dict[tuple[bool, bool], IdentityCache[tuple[ToolSpec, ...], bytes]] = {
    (strict, grammar): IdentityCache(partial(_write_tools, strict=strict, grammar=grammar), most=64)
    for strict, grammar in product((False, True), repeat=2)
}


def _options(request: Request, dialect: OpenAIDialect) -> JSON:
    names = OPTIONS | dict(dialect.renamed or {})
    given = {name: value for name, value in request.options.items() if name in names and value is not None}
    if given.get("num_predict") == -1:  # Ollama's word for as many as there are
        del given["num_predict"]
    sent = {names[name]: value for name, value in given.items()}
    if dialect.own_temperature and re.match(dialect.own_temperature, request.model):
        sent.pop("temperature", None)
    if request.tools and not dialect.format_beside_tools:  # it would apply to the calls too
        sent.pop("response_format", None)
    if "max_tokens" in request.left_out and "max_tokens" in sent:
        sent["max_completion_tokens"] = sent["max_tokens"]
    return {name: value for name, value in sent.items() if name.removeprefix("random_") not in request.left_out}


def _open(schema: JSON) -> JSON:
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}}


def _closed(schema: JSON) -> JSON:
    return _open(closed(schema))


# Servers that follow OpenAI's rules refuse a schema with optional properties or open objects.
SCHEMAS: Mapping[str, Callable[[JSON], JSON]] = {"open": _open, "closed": _closed}


def _tool(tool: ToolSpec, strict: bool) -> JSON:
    written = tool.to_openai()
    if tool.strict and strict:
        written["function"]["strict"] = True
    return written


def _choice(options: Mapping[str, Any], dialect: OpenAIDialect) -> JSON:
    """Return the tool choice; a single tool is never named, since servers silently treat that as `auto`."""
    sent: JSON = {}
    asked, parallel = options.get("tool_choice"), options.get("parallel_tool_calls")
    if dialect.tool_choice and isinstance(asked, str) and asked in CHOICES:
        sent["tool_choice"] = CHOICES[asked]
    if dialect.parallel and isinstance(parallel, bool):
        sent["parallel_tool_calls"] = parallel
    return sent


def _thinking(request: Request, dialect: OpenAIDialect) -> JSON:
    if request.tools and "reasoning_effort" in request.left_out:
        return _by_effort(False)
    return THINKING[dialect.think](request.think) if request.think is not None and dialect.think else {}


def _by_template(think: bool | str) -> JSON:
    """Return the template variables for thinking: most templates have a switch, some a level."""
    return {"chat_template_kwargs": {"enable_thinking" if isinstance(think, bool) else "reasoning_effort": think}}


def _by_effort(think: bool | str) -> JSON:
    words = {True: "medium", False: "none"}
    return {"reasoning_effort": words[think] if isinstance(think, bool) else think}


def _by_reasoning(think: bool | str) -> JSON:
    return {"reasoning": {"enabled": think} if isinstance(think, bool) else {"effort": think}}


THINKING: dict[str, Callable[[bool | str], JSON]] = {
    "template": _by_template,
    "effort": _by_effort,
    "reasoning": _by_reasoning,
}


def _prefix(messages: list[JSON], dialect: OpenAIDialect) -> JSON:
    """Mark an answer at the end as the beginning of the reply, as programs mean it."""
    if not (dialect.marks_prefix and messages and messages[-1]["role"] == "assistant"):
        return {}
    return {"messages": [*messages[:-1], messages[-1] | {"prefix": True}]}


def _spoken(message: ChatMessage, _: OpenAIDialect) -> JSON:
    if not message.images:
        return {"role": message.role.value, "content": message.content}
    text: list[JSON] = [{"type": "text", "text": message.content}] if message.content else []
    images = [{"type": "image_url", "image_url": {"url": _data_url(image)}} for image in message.images]
    return {"role": message.role.value, "content": [*text, *images]}


def _data_url(image: bytes) -> str:
    media = next((media for start, media in MEDIA if image.startswith(start)), "png")
    return f"data:image/{media};base64,{b64encode(image).decode()}"


def _assistant(message: ChatMessage, dialect: OpenAIDialect) -> JSON:
    written = {"role": "assistant", "content": message.content}  # never null: llama-cpp-python answers that with a 500
    thoughts = message.thinking or (" " if dialect.needs_thoughts else "")
    if thoughts and dialect.thoughts:
        written[dialect.thoughts] = thoughts
    if message.calls:
        return written | {"tool_calls": [_call(call) for call in message.calls]}
    return written


def _call(call: ToolCall) -> JSON:
    arguments = exact_json.dumps(call.arguments).decode()
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _result(message: ChatMessage, dialect: OpenAIDialect) -> JSON:
    return _spoken(message, dialect) | {"tool_call_id": message.call_id}


def _answer(message: ChatMessage, dialect: OpenAIDialect) -> JSON:
    written = _assistant(message, dialect)
    if dialect.thoughts_too and dialect.thoughts in written:
        written[dialect.thoughts_too] = written[dialect.thoughts]
    return written


def _notice(message: ChatMessage, _: OpenAIDialect) -> JSON:
    raise ToolsupportError("A notice is for people: it must not reach a model.")


WRITERS: dict[Role, Callable[[ChatMessage, OpenAIDialect], JSON]] = {
    Role.SYSTEM: _spoken,
    Role.USER: _spoken,
    Role.ASSISTANT: _answer,
    Role.TOOL: _result,
    Role.NOTICE: _notice,
}
