"""The sampling options of a request."""

from __future__ import annotations

from typing import Any

from toolsupport.core.words import Brief

NUM_CTX = 8192  # tokens; always the same for a model, with tools and without, since another one loads it anew
TEMPERATURE_WITH_TOOLS = 0.3


def options(brief: Brief) -> dict[str, Any]:
    """The brief's own options over our defaults."""
    defaults: dict[str, Any] = {"num_ctx": NUM_CTX}
    if brief.format and brief.tools:
        defaults["temperature"] = TEMPERATURE_WITH_TOOLS
    return defaults | dict(brief.options)
