"""Declares the objects and the events of the Messages API."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from toolsupport.core.json_shapes import TEXT, TEXT_OR_NULL, WHOLE, Choice, Shape, list_of, or_null
from toolsupport.core.types import JSON
from toolsupport.gateway.block_ordering import Kind
from toolsupport.gateway.chat_shapes import SUMMARY
from toolsupport.web.api_errors import MESSAGES_ERROR

USAGE = Shape(
    "MessagesUsage",
    {"input_tokens": WHOLE, "output_tokens": WHOLE},
    {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
)
STOP_REASON: JSON = {"enum": ["end_turn", "max_tokens", "tool_use", "stop_sequence", "refusal"]}

TEXT_BLOCK = Shape("MessagesText", {"text": TEXT}, {"type": "text"})
THINKING_BLOCK = Shape("MessagesThinking", {"thinking": TEXT}, {"type": "thinking", "signature": ""})
CALL_BLOCK = Shape("MessagesToolUse", {"id": TEXT, "name": TEXT, "input": {"type": "object"}}, {"type": "tool_use"})
BLOCK = Choice("MessagesBlock", (TEXT_BLOCK, THINKING_BLOCK, CALL_BLOCK))
ENDED = {"stop_reason": or_null(STOP_REASON), "stop_sequence": TEXT_OR_NULL}
HEAD = {"id": TEXT, "model": TEXT, "content": list_of(BLOCK.ref), **ENDED}
MESSAGE = Shape(
    "MessagesMessage",
    {**HEAD, "usage": USAGE.ref},
    {"type": "message", "role": "assistant"},
    {"x_toolsupport": SUMMARY.ref},
)

TEXT_DELTA = Shape("MessagesTextDelta", {"text": TEXT}, {"type": "text_delta"})
THINKING_DELTA = Shape("MessagesThinkingDelta", {"thinking": TEXT}, {"type": "thinking_delta"})
SIGNATURE_DELTA = Shape("MessagesSignatureDelta", {}, {"type": "signature_delta", "signature": ""})
JSON_DELTA = Shape("MessagesJsonDelta", {"partial_json": TEXT}, {"type": "input_json_delta"})
DELTA = Choice("MessagesDelta", (TEXT_DELTA, THINKING_DELTA, SIGNATURE_DELTA, JSON_DELTA))
# The growth of a block of each kind, and its one field.
GROWTH: Mapping[Kind, tuple[Shape, str]] = MappingProxyType(
    {
        Kind.TEXT: (TEXT_DELTA, "text"),
        Kind.REASONING: (THINKING_DELTA, "thinking"),
        Kind.CALL: (JSON_DELTA, "partial_json"),
    }
)
END = Shape("MessagesEnd", {"stop_reason": STOP_REASON, "stop_sequence": TEXT_OR_NULL})


def _event(name: str, /, **fields: JSON) -> Shape:
    return Shape("Messages" + name.title().replace("_", "") + "Event", fields, {"type": name})


# The name of an event → its fields.
EVENTS: Mapping[str, Shape] = MappingProxyType(
    {
        shape.fixed["type"]: shape
        for shape in (
            _event("message_start", message=MESSAGE.ref),
            _event("ping"),
            _event("content_block_start", index=WHOLE, content_block=BLOCK.ref),
            _event("content_block_delta", index=WHOLE, delta=DELTA.ref),
            _event("content_block_stop", index=WHOLE),
            _event("message_delta", delta=END.ref, usage=USAGE.ref, x_toolsupport=SUMMARY.ref),
            _event("message_stop"),
        )
    }
)
EVENT = Choice("MessagesEvent", (*EVENTS.values(), MESSAGES_ERROR))
COUNT = Shape("MessagesCount", {"input_tokens": WHOLE})
SHAPES: tuple[Shape | Choice, ...] = (
    *(USAGE, TEXT_BLOCK, THINKING_BLOCK, CALL_BLOCK, BLOCK, MESSAGE, COUNT),
    *(TEXT_DELTA, THINKING_DELTA, SIGNATURE_DELTA, JSON_DELTA, DELTA, END, EVENT),
    *EVENTS.values(),
)
