"""Builds the sampling options of a request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolsupport.core.types import ChatMessage, RequestSpec, Role

NUM_CTX = 8192  # tokens; constant per model, with and without tools, since a change reloads it
TEMPERATURE_WITH_TOOLS = 0.3
FORCED = ("required", "any")


def options(request_spec: RequestSpec, log: Sequence[ChatMessage] = ()) -> dict[str, Any]:
    """Merge the request's own options over the defaults.

    A forced tool choice is dropped after the first call: a model that must call in every round could never answer.
    """
    defaults: dict[str, Any] = {"num_ctx": NUM_CTX}
    if request_spec.offers_tools:
        defaults["temperature"] = TEMPERATURE_WITH_TOOLS
    chosen = defaults | dict(request_spec.options)
    if chosen.get("tool_choice") in FORCED and log and log[-1].role is Role.TOOL:
        chosen["tool_choice"] = "auto"
    if request_spec.offers_tools and request_spec.format != "native":
        chosen.pop("response_format", None)  # it would apply to calls in text too
    return chosen
