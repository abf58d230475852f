"""Gets exact token counts from a server that offers them, once for each build of a model and set of tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsupport import exchange
from toolsupport.core.errors import ToolsupportError
from toolsupport.core.prompt import token_counts
from toolsupport.core.prompt.token_counts import MeasuredPrompt, TokenCounts
from toolsupport.core.types import ChatMessage, Request
from toolsupport.providers import token_counting
from toolsupport.registry.models.request_context import RequestContext


def wanted(prepared: RequestContext) -> bool:
    """Return whether this request offers tools whose cost is unknown, to a server that can count it."""
    unknown = prepared.counts.with_tools is None or prepared.counts.without is None
    return unknown and prepared.request_spec.offers_tools and token_counting.counts(prepared.endpoint.kind)


async def measured(prepared: RequestContext, history: Sequence[ChatMessage]) -> TokenCounts:
    """Return the counts of this request with its tools and without them.

    A count that the server does not give stays as it is. The counts with and without tools are of the same messages,
    so that their difference is the exact cost of the tools and of the text about them. A server that counts no more
    for native tools than for the same text without them drops them: both counts are equal then.
    """
    request_spec = prepared.request_spec
    with_tools = exchange.make_request(request_spec, history)
    length = token_counts.characters(request_spec, history)
    try:
        found = await _count(prepared, with_tools)
        bare = await _count(prepared, replace(with_tools, tools=())) if found and with_tools.tools else None
        drops = found is not None and bare is not None and found <= bare
        without = exchange.make_request(replace(request_spec, tools=()), history)
        other = found if drops else await _count(prepared, without)
    except (ToolsupportError, ValueError):
        return prepared.counts
    return (
        TokenCounts(MeasuredPrompt(length, found), MeasuredPrompt(length, other))
        if found and other
        else prepared.counts
    )


async def _count(prepared: RequestContext, request: Request) -> int | None:
    return await token_counting.counted(prepared.endpoint, request)
