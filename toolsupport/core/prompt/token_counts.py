"""Estimates whether a prompt fits into the context of a model, and the cost of its tools.

A server counts the tokens of each request. The cost of the tools is the difference between the shortest requests with
and without them; no request is ever sent just to measure.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from toolsupport.core.identity_cache import IdentityCache
from toolsupport.core.prompt.turn_context import kept, with_notes
from toolsupport.core.types import ChatMessage, RequestSpec, ToolSpec

PER_CHARACTER = 0.25  # tokens of plain English; code and other scripts take more
LEAST_PER_CHARACTER = 0.1  # no text that people write takes fewer
SURE = 1.1  # an estimate must be beyond the limit by this much before a cut is claimed
LEAST_OF_DEFINITIONS = 0.3  # of a tool's JSON is written into a prompt, however briefly a template describes it
# A tokenizer joins what is repeated: a line of 60 marks takes few tokens.
REPEATED = re.compile(r"(.{1,8}?)\1{3,}+", re.DOTALL)
FULL = 0.98  # of the context: a prompt that reaches so far was cut, or leaves no room for an answer


@dataclass(frozen=True, slots=True)
class MeasuredPrompt:
    """One request: the characters of its messages, and its tokens as counted by the server, tools included."""

    characters: int
    tokens: int


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """The shortest requests with a set of tools and without any, if known."""

    with_tools: MeasuredPrompt | None = None
    without: MeasuredPrompt | None = None


def _lengths_of(tools: tuple[ToolSpec, ...]) -> tuple[int, ...]:
    return tuple(len(json.dumps(tool.to_openai())) for tool in tools)


_lengths = IdentityCache(_lengths_of, most=64)


def tools_digest(request_spec: RequestSpec) -> str:
    """Return 32 hex characters that identify a set of tools; "" if no tools are offered."""
    if not request_spec.offers_tools:
        return ""
    definition = json.dumps([request_spec.format, [tool.to_openai() for tool in request_spec.tools]], sort_keys=True)
    return hashlib.sha256(definition.encode(errors="replace")).hexdigest()[:32]


def characters(request_spec: RequestSpec, log: Sequence[ChatMessage]) -> int:
    """Return the length of the request without the parts about tools."""
    return len(request_spec.system) + sum(map(_length, with_notes(request_spec, kept(request_spec, log))))


def _length(message: ChatMessage) -> int:
    calls = sum(len(json.dumps(call.arguments, ensure_ascii=False)) for call in message.calls)
    return len(message.content) + calls


def condensed(request_spec: RequestSpec, log: Sequence[ChatMessage]) -> int:
    """Return that length with each repetition counted twice."""
    texts = [request_spec.system, *(message.content for message in kept(request_spec, log))]
    saved = sum(len(text) - len(REPEATED.sub(r"\1\1", text)) for text in texts)
    return characters(request_spec, log) - saved


def tool_tokens(request_spec: RequestSpec, counts: TokenCounts) -> int:
    """Return the cost of the tools in tokens: measured, else estimated from their definitions."""
    if not request_spec.offers_tools:
        return 0
    one, other = counts.with_tools, counts.without or MeasuredPrompt(0, 0)
    if one is None:
        return round(PER_CHARACTER * _definitions_length(request_spec))
    return max(0, round(one.tokens - other.tokens - PER_CHARACTER * (one.characters - other.characters)))


def _definitions_length(request_spec: RequestSpec) -> int:
    """Return the characters of the JSON list of all definitions."""
    lengths = _lengths.of(request_spec.tools)
    return sum(lengths) + max(2, 2 * len(lengths))  # brackets, and ", " between each two


def cost_of_each(request_spec: RequestSpec, counts: TokenCounts) -> dict[str, int]:
    """Divide that cost among the tools, in tokens, in proportion to the lengths of their definitions."""
    names = [tool.name for tool in request_spec.tools]
    lengths = dict(zip(names, _lengths.of(request_spec.tools), strict=True))
    whole, total = tool_tokens(request_spec, counts), sum(lengths.values())
    return {name: round(whole * length / total) for name, length in lengths.items()}


def expected(request_spec: RequestSpec, counts: TokenCounts, length: int) -> int:
    """Estimate the tokens of a request with this many characters and its tools; rather too low than too high."""
    return round(PER_CHARACTER * length) + tool_tokens(request_spec, counts)


def whole(request_spec: RequestSpec, counts: TokenCounts, sent: Sequence[ChatMessage], length: int) -> int:
    """Estimate the tokens of a request, by a count with these tools, else by the length of `sent`."""
    if counts.with_tools is not None or not request_spec.offers_tools:
        return expected(request_spec, counts, length)
    definitions = _definitions_length(request_spec) if request_spec.format == "native" else 0
    return round(PER_CHARACTER * (sum(map(_length, sent)) + definitions))


def of_characters(length: int) -> int:
    """Estimate the tokens of a text with this many characters."""
    return round(PER_CHARACTER * length)


def was_cut(request_spec: RequestSpec, counts: TokenCounts, seen: MeasuredPrompt) -> bool:
    """Return True if the server counted fewer tokens than were sent, or stopped at the end of the context."""
    context = context_tokens(request_spec)
    if seen.tokens < LEAST_PER_CHARACTER * seen.characters:
        return True
    if not context or seen.tokens > context:
        return False
    return seen.tokens >= FULL * context or expected(request_spec, counts, seen.characters) > SURE * context


def dropped_tools(request_spec: RequestSpec, counts: TokenCounts, seen: MeasuredPrompt) -> bool:
    """Return True if the server counted fewer tokens than native tools alone have: the model was not shown them."""
    if request_spec.format != "native" or not request_spec.tools:
        return False
    one, other = counts.with_tools, counts.without
    if one and other and one.characters == other.characters:
        # A request that was counted with its tools and without them shows which of the two the model was given.
        like_without = seen.characters == one.characters and seen.tokens < (one.tokens + other.tokens) / 2
        if one.tokens <= other.tokens or like_without:
            return True
    definitions = _definitions_length(request_spec)
    return seen.tokens < LEAST_PER_CHARACTER * (seen.characters + LEAST_OF_DEFINITIONS * definitions)


def context_tokens(request_spec: RequestSpec) -> int:
    """Return the requested context in tokens, 0 if the server decides."""
    return int(request_spec.options.get("num_ctx") or 0)
