"""Decides whether a model is tested before a program's tools are left out."""

from __future__ import annotations

from toolsupport.core.types import Capabilities, RequestSpec

# Sources that are neither a test nor a decision: claims of servers and families prove nothing.
UNPROVEN = ("default", "declared", "profile")
# The rules that leave out all tools because of the model's capabilities.
RULES = ("unknown", "unsupported")


def untested(capabilities: Capabilities) -> bool:
    """Return whether a no, or an unknown value, has neither a test nor a person's decision as its source."""
    tools = capabilities["tools"]
    return tools.value is not True and tools.source in UNPROVEN


def worth_testing(request_spec: RequestSpec) -> bool:
    """Return whether a test could give this request its tools."""
    left_out = any(exclusion.rule in RULES for exclusion in request_spec.excluded)
    return left_out and not request_spec.offers_tools and untested(request_spec.capabilities)
