"""Declares the objects and the events of the Responses API."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from toolsupport.core.json_shapes import TEXT, WHOLE, Choice, Shape, list_of, or_null
from toolsupport.core.types import JSON
from toolsupport.gateway.block_ordering import Kind
from toolsupport.gateway.chat_shapes import SUMMARY
from toolsupport.gateway.responses.schemas import REQUEST

# Field of the request that a response repeats → its value if the request leaves it open.
DEFAULTS: Mapping[str, object] = MappingProxyType(
    {
        "instructions": None,
        "max_output_tokens": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": None,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
    }
)
INPUT_DETAILS = Shape("ResponsesInputDetails", {}, {"cached_tokens": 0, "cache_write_tokens": 0})
OUTPUT_DETAILS = Shape("ResponsesOutputDetails", {}, {"reasoning_tokens": 0})
USAGE = Shape(
    "ResponsesUsage",
    {
        "input_tokens": WHOLE,
        "input_tokens_details": INPUT_DETAILS.ref,
        "output_tokens": WHOLE,
        "output_tokens_details": OUTPUT_DETAILS.ref,
        "total_tokens": WHOLE,
    },
)

TEXT_PART = Shape("ResponsesText", {"text": TEXT}, {"type": "output_text", "annotations": [], "logprobs": []})
REASONING_PART = Shape("ResponsesReasoningText", {"text": TEXT}, {"type": "reasoning_text"})
PART = Choice("ResponsesPart", (TEXT_PART, REASONING_PART))
STATE: JSON = {"id": TEXT, "status": {"enum": ["in_progress", "completed", "incomplete"]}}
CALL_ITEM = Shape(
    "ResponsesFunctionCall",
    {**STATE, "call_id": TEXT, "name": TEXT, "arguments": TEXT},
    {"type": "function_call"},
    {"namespace": TEXT},
)
CUSTOM_ITEM = Shape(
    "ResponsesCustomToolCall",
    {**STATE, "call_id": TEXT, "name": TEXT, "input": TEXT},
    {"type": "custom_tool_call"},
    {"namespace": TEXT},
)
MESSAGE_ITEM = Shape(
    "ResponsesMessage", {**STATE, "content": list_of(TEXT_PART.ref)}, {"type": "message", "role": "assistant"}
)
REASONING_ITEM = Shape(
    "ResponsesReasoning", {**STATE, "content": list_of(REASONING_PART.ref)}, {"type": "reasoning", "summary": []}
)
ITEM = Choice("ResponsesItem", (MESSAGE_ITEM, REASONING_ITEM, CALL_ITEM, CUSTOM_ITEM))
FAILURE = Shape("ResponsesFailure", {"code": TEXT, "message": TEXT, "type": TEXT})
CUT = Shape("ResponsesIncompleteDetails", {"reason": {"enum": ["max_output_tokens", "content_filter"]}})
EFFORT = Shape("ResponsesEffort", {}, {"effort": None, "summary": None})
RESPONSE = Shape(
    "ResponsesResponse",
    {
        "id": TEXT,
        "created_at": WHOLE,
        "status": {"enum": ["in_progress", "completed", "incomplete", "failed"]},
        "error": or_null(FAILURE.ref),
        "incomplete_details": or_null(CUT.ref),
        "model": TEXT,
        "output": list_of(ITEM.ref),
        "reasoning": EFFORT.ref,
        "usage": or_null(USAGE.ref),
        **{name: REQUEST["properties"][name] for name in DEFAULTS},
        "x_toolsupport": SUMMARY.ref,
    },
    {
        "object": "response",
        "background": False,
        "previous_response_id": None,
        "store": False,
        "truncation": "disabled",
    },
)


def _event(name: str, /, **fields: JSON) -> Shape:
    title = name.title().replace("_", "").replace(".", "")
    return Shape(f"Responses{title}Event", {"sequence_number": WHOLE, **fields}, {"type": f"response.{name}"})


PLACE: Mapping[str, JSON] = MappingProxyType({"item_id": TEXT, "output_index": WHOLE})
IN_PART: Mapping[str, JSON] = MappingProxyType({**PLACE, "content_index": WHOLE})
LOGPROBS: JSON = {"const": []}
# The name of an event, without `response.` → its fields.
EVENTS: Mapping[str, Shape] = MappingProxyType(
    {
        shape.fixed["type"].removeprefix("response."): shape
        for shape in (
            *(
                _event(name, response=RESPONSE.ref)
                for name in ("created", "in_progress", "completed", "incomplete", "failed")
            ),
            _event("output_item.added", output_index=WHOLE, item=ITEM.ref),
            _event("output_item.done", output_index=WHOLE, item=ITEM.ref),
            _event("content_part.added", **IN_PART, part=PART.ref),
            _event("content_part.done", **IN_PART, part=PART.ref),
            _event("output_text.delta", **IN_PART, delta=TEXT, logprobs=LOGPROBS),
            _event("output_text.done", **IN_PART, text=TEXT, logprobs=LOGPROBS),
            _event("reasoning_text.delta", **IN_PART, delta=TEXT),
            _event("reasoning_text.done", **IN_PART, text=TEXT),
            _event("function_call_arguments.delta", **PLACE, delta=TEXT),
            _event("function_call_arguments.done", **PLACE, name=TEXT, arguments=TEXT),
            _event("custom_tool_call_input.delta", **PLACE, delta=TEXT),
            _event("custom_tool_call_input.done", **PLACE, input=TEXT),
        )
    }
)
# The growth of a block of each kind, and its end.
GROWTH: Mapping[Kind, tuple[str, str]] = MappingProxyType(
    {
        Kind.TEXT: ("output_text.delta", "output_text.done"),
        Kind.REASONING: ("reasoning_text.delta", "reasoning_text.done"),
        Kind.CALL: ("function_call_arguments.delta", "function_call_arguments.done"),
        Kind.CUSTOM: ("custom_tool_call_input.delta", "custom_tool_call_input.done"),
    }
)
EVENT = Choice("ResponsesEvent", tuple(EVENTS.values()))
SHAPES: tuple[Shape | Choice, ...] = (
    *(INPUT_DETAILS, OUTPUT_DETAILS, USAGE, TEXT_PART, REASONING_PART, PART),
    *(CALL_ITEM, CUSTOM_ITEM, MESSAGE_ITEM, REASONING_ITEM),
    *(ITEM, FAILURE, CUT, EFFORT, RESPONSE, EVENT),
    *EVENTS.values(),
)
