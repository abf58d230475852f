"""The request of a program, independent of its API."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import orjson

from toolsupport.core import call_validation, strict_json
from toolsupport.core.schema_spelling import all_in_json_schema
from toolsupport.core.types import JSON, ChatMessage, Role, ToolSpec
from toolsupport.gateway.conversation import signed
from toolsupport.gateway.request_errors import InvalidField

# Sets of tools that are kept, and the bytes of one: Claude Code sends some 60 kB.
MOST_KEPT, LARGEST_KEPT = 32, 128 * 1024
# The options that are whole numbers.
WHOLE = frozenset({"num_predict", "top_k", "seed"})


class NamespacedName(NamedTuple):
    """A tool of a namespace, as Codex sends the tools of an MCP server; `namespace` is the server's part."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class GatewayRequest:
    """A parsed request. `choice` is one of CHOICES; if a tool is named, `tools` contains only that one.

    `skipped`: types of tools that exist only at hosted services, and `grammar` if a custom tool has one, which is not
    enforced. `echo`: fields that the answer repeats.
    `namespaced`: the tools of namespaces by the flat names that the model gets for them. `custom`: the names of those
    `tools` whose calls are given back as custom calls.
    """

    model: str
    log: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    choice: str = "auto"
    parallel: bool | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    stream: bool = False
    include_usage: bool = False
    skipped: tuple[str, ...] = ()
    echo: Mapping[str, Any] = field(default_factory=dict)
    namespaced: Mapping[str, NamespacedName] = field(default_factory=dict)
    custom: frozenset[str] = frozenset()


def parsed(body: bytes) -> JSON:
    """Return the JSON of a body. Raises InvalidField if it is invalid, or if parsers would read it differently."""
    try:
        # Schemas of tools hold limits beyond 64 bits (the uint64 of JavaScript), which servers read as floats.
        return strict_json.read(body, wide=float)  # type: ignore[no-any-return]
    except strict_json.OversizedJson as error:
        raise InvalidField(f"The body cannot be read: {error}.") from error
    except ValueError as error:
        raise InvalidField(f"The body is not JSON: {error}.") from error


def usable(tools: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
    """Return the tools. Raises InvalidField if two have the same name, or if no call could fit the schema of one.

    Their schemas are rewritten where they are not in the spelling of JSON Schema.

    Agents repeat their tools in each request. Those with the same text are the same objects, so that what was made of
    them for an earlier request is found again.
    """
    written = orjson.dumps([(tool.name, tool.description, tool.parameters, tool.strict) for tool in tools])
    return _read_again(written) if len(written) <= LARGEST_KEPT else _checked(tools)


@lru_cache(maxsize=MOST_KEPT)
def _read_again(written: bytes) -> tuple[ToolSpec, ...]:
    return _checked(tuple(ToolSpec(*parts) for parts in orjson.loads(written)))


def _checked(tools: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
    if len({tool.name for tool in tools}) < len(tools):
        raise InvalidField("Two tools have the same name.", "tools")
    tools = all_in_json_schema(tools)
    for tool in tools:
        if tool.parameters.get("type", "object") != "object":
            raise InvalidField(f"The parameters of {tool.name} must be a JSON Schema of the type object.", "tools")
        if reason := call_validation.unusable(tool.parameters):
            raise InvalidField(f"No call of {tool.name} could be checked: {reason}.", "tools")
    return tools


def only(tools: tuple[ToolSpec, ...], names: Collection[Any]) -> tuple[ToolSpec, ...]:
    """Return the tools of these names, in their order."""
    return tuple(tool for tool in tools if tool.name in names)


def named(tools: tuple[ToolSpec, ...], name: str) -> tuple[tuple[ToolSpec, ...], str]:
    """Return the one tool that a program demands, and the choice `required`."""
    chosen = only(tools, (name,))
    if not chosen:
        raise InvalidField(f"tool_choice names {name}, which is not one of the tools.", "tool_choice")
    return chosen, "required"


def required(tools: tuple[ToolSpec, ...]) -> tuple[tuple[ToolSpec, ...], str]:
    """Return the tools, of which one must be called."""
    if not tools:
        raise InvalidField("A call is required, but no tool is offered.", "tool_choice")
    return tools, "required"


def integers(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that have a value; `5.0` is a whole number in JSON, and not every server takes it so."""
    given = {name: value for name, value in options.items() if value is not None}
    whole = {name: int(value) for name, value in given.items() if isinstance(value, float) and name in WHOLE}
    return given | whole


def joined_answers(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Return the messages with neighbouring parts of one answer as one: reasoning, text and calls stand apart there.

    All parts of an answer at once: joined one by one they would cost the square of their number.
    """
    log: list[ChatMessage] = []
    for is_answer, row in groupby(messages, key=lambda message: message.role is Role.ASSISTANT):
        parts = list(row)
        log += [_joined(parts)] if is_answer else parts
    return log


def _joined(parts: Sequence[ChatMessage]) -> ChatMessage:
    """Return one answer of its parts."""
    return replace(
        parts[0],
        content="\n\n".join(part.content for part in parts if part.content),
        thinking="\n\n".join(part.thinking for part in parts if part.thinking),
        calls=signed(call for part in parts for call in part.calls),
    )
