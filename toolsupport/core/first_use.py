"""Decides whether a model is tested before a program's tools are left out."""

from __future__ import annotations

from toolsupport.core.types import Capabilities, RequestSpec

# Sources that are neither a test nor a decision: the word of a server or of a family proves nothing.
UNPROVEN = ("default", "declared", "profile")
# The rules that leave out all tools because of the model's capabilities.
RULES = ("unknown", "unsupported")


def untested(capabilities: Capabilities) -> bool:
    """Return whether a no, or the lack of an answer, rests on no test and on no decision of a person."""
    tools = capabilities["tools"]
    return tools.value is not True and tools.source in UNPROVEN


def worth_testing(request_spec: RequestSpec) -> bool:
    """Return whether a test could change that this request carries no tools."""
    left_out = any(exclusion.rule in RULES for exclusion in request_spec.excluded)
    return left_out and not request_spec.offers_tools and untested(request_spec.capabilities)
