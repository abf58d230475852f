"""Declares the objects and the chunks of chat completions."""

from __future__ import annotations

from toolsupport.core.json_shapes import TEXT, TEXT_OR_NULL, WHOLE, Choice, Shape, list_of, or_null
from toolsupport.web.api_errors import ERROR

SUMMARY = Shape(
    "Summary",
    {
        "format": TEXT_OR_NULL,
        "source": TEXT,
        "repairs": list_of(TEXT),
        "retries": WHOLE,
        "tools_left_out": TEXT_OR_NULL,
        "first_use": TEXT_OR_NULL,
        "forced": TEXT_OR_NULL,
        "format_reason": TEXT_OR_NULL,
        "settings_left_out": list_of(TEXT),
        "fallback": TEXT_OR_NULL,
        "response_format": TEXT_OR_NULL,
    },
)
USAGE = Shape("ChatUsage", {"prompt_tokens": WHOLE, "completion_tokens": WHOLE, "total_tokens": WHOLE})
FINISH = {"enum": ["stop", "length", "tool_calls", "content_filter"]}

FUNCTION = Shape("ChatFunction", {"name": TEXT, "arguments": TEXT})
CALL = Shape("ChatCall", {"id": TEXT, "function": FUNCTION.ref}, {"type": "function"})
CUSTOM = Shape("ChatCustom", {"name": TEXT, "input": TEXT})
CUSTOM_CALL = Shape("ChatCustomCall", {"id": TEXT, "custom": CUSTOM.ref}, {"type": "custom"})
ANY_CALL = Choice("ChatAnyCall", (CALL, CUSTOM_CALL))
MESSAGE = Shape(
    "ChatMessage",
    {"content": TEXT_OR_NULL},
    {"role": "assistant", "refusal": None},
    {"reasoning_content": TEXT, "tool_calls": list_of(ANY_CALL.ref)},
)
CHOICE = Shape("ChatChoice", {"message": MESSAGE.ref, "finish_reason": FINISH}, {"index": 0, "logprobs": None})
HEAD = {"id": TEXT, "created": WHOLE, "model": TEXT}
COMPLETION = Shape(
    "ChatCompletion",
    {**HEAD, "choices": list_of(CHOICE.ref), "usage": or_null(USAGE.ref), "x_toolsupport": SUMMARY.ref},
    {"object": "chat.completion"},
)

FUNCTION_PIECE = Shape("ChatFunctionPiece", {"arguments": TEXT}, optional={"name": TEXT})
CALL_PIECE = Shape(
    "ChatCallPiece",
    {"index": WHOLE, "function": FUNCTION_PIECE.ref},
    optional={"id": TEXT, "type": {"const": "function"}},
)
CUSTOM_PIECE = Shape("ChatCustomPiece", {"input": TEXT}, optional={"name": TEXT})
CUSTOM_CALL_PIECE = Shape(
    "ChatCustomCallPiece",
    {"index": WHOLE, "custom": CUSTOM_PIECE.ref},
    optional={"id": TEXT, "type": {"const": "custom"}},
)
ANY_CALL_PIECE = Choice("ChatAnyCallPiece", (CALL_PIECE, CUSTOM_CALL_PIECE))
DELTA = Shape(
    "ChatDelta",
    optional={
        "role": {"const": "assistant"},
        "content": TEXT,
        "reasoning_content": TEXT,
        "tool_calls": list_of(ANY_CALL_PIECE.ref),
    },
)
CHUNK_CHOICE = Shape(
    "ChatChunkChoice", {"delta": DELTA.ref, "finish_reason": or_null(FINISH)}, {"index": 0, "logprobs": None}
)
CHUNK = Shape(
    "ChatChunk",
    {**HEAD, "choices": list_of(CHUNK_CHOICE.ref)},
    {"object": "chat.completion.chunk"},
    {"usage": or_null(USAGE.ref), "x_toolsupport": SUMMARY.ref},
)
EVENT = Choice("ChatEvent", (CHUNK, ERROR))
SHAPES: tuple[Shape | Choice, ...] = (
    *(SUMMARY, USAGE, FUNCTION, CALL, CUSTOM, CUSTOM_CALL, ANY_CALL, MESSAGE, CHOICE, COMPLETION),
    *(FUNCTION_PIECE, CALL_PIECE, CUSTOM_PIECE, CUSTOM_CALL_PIECE, ANY_CALL_PIECE, DELTA, CHUNK_CHOICE, CHUNK, EVENT),
)
