"""Gets exact token counts from a server that offers them, once for each build of a model and set of tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsupport import exchange
from toolsupport.core.errors import ToolsupportError
from toolsupport.core.prompt import token_counts
from toolsupport.core.prompt.token_counts import MeasuredPrompt, TokenCounts
from toolsupport.core.types import ChatMessage, RequestSpec
from toolsupport.providers import token_counting
from toolsupport.registry.models.request_context import RequestContext


def wanted(prepared: RequestContext) -> bool:
    """Return whether this request offers tools whose cost is unknown, to a server that can count it."""
    unknown = prepared.counts.with_tools is None or prepared.counts.without is None
    return unknown and prepared.request_spec.offers_tools and token_counting.counts(prepared.endpoint.kind)


async def measured(prepared: RequestContext, history: Sequence[ChatMessage]) -> TokenCounts:
    """Return the counts of this request with its tools and without them; what the server does not count stays as it is.

    The counts with and without tools are of the same messages, so that their difference is the exact cost of the tools.
    """
    request_spec = prepared.request_spec
    try:
        with_tools = await _count(prepared, request_spec, history)
        without = await _count(prepared, replace(request_spec, tools=()), history)
    except (ToolsupportError, ValueError):
        return prepared.counts
    return TokenCounts(with_tools, without) if with_tools and without else prepared.counts


async def _count(
    prepared: RequestContext, request_spec: RequestSpec, history: Sequence[ChatMessage]
) -> MeasuredPrompt | None:
    tokens = await token_counting.counted(prepared.endpoint, exchange.make_request(request_spec, history))
    return MeasuredPrompt(token_counts.characters(request_spec, history), tokens) if tokens else None
