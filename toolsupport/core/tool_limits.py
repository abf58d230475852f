"""Limits how many tools a model gets at once, by measurement, else by its size."""

from __future__ import annotations

from dataclasses import dataclass

from toolsupport.core.types import Capabilities, Capability

BILLION = 10**9
SMALL, LARGE = 7 * BILLION, 30 * BILLION
# Sources that are general claims about a family, not knowledge about this model.
GENERAL = frozenset({"profile", "default"})


@dataclass(frozen=True, slots=True)
class ToolLimit:
    """At most `most` tools, of all kinds or (`mcp_only`) of those from MCP servers; the reason is for people."""

    rule: str
    most: int
    reason: str
    mcp_only: bool = False

    def counts(self, kind: str) -> bool:
        return kind == "mcp" or not self.mcp_only


def limits_of(capabilities: Capabilities, parameters: int | None, hosted: bool = False) -> tuple[ToolLimit, ...]:
    """Return the limits for a model. A number known for the model itself replaces the rule by size."""
    known = capabilities["max_tools"]
    most = _number(known)
    limits = [] if most is None else [ToolLimit("max_tools", most, f"This model takes up to {most} tools at once.")]
    limited = most is not None and (known.source not in GENERAL or (parameters is None and not hosted))
    return tuple(limits) if limited else (_by_size(parameters, hosted), *limits)


def _by_size(parameters: int | None, hosted: bool) -> ToolLimit:
    """Return the limit for tools of MCP servers, by the number of all parameters of the model."""
    if parameters is None and hosted:
        most, size = 10, "A large hosted model"
    elif parameters is None:
        most, size = 2, "A model of unknown size"
    elif parameters < SMALL:
        most, size = 2, "A model with fewer than 7 billion parameters"
    elif parameters <= LARGE:
        most, size = 5, "A model with 7 to 30 billion parameters"
    else:
        most, size = 10, "A model with more than 30 billion parameters"
    return ToolLimit("mcp_limit", most, f"{size} gets up to {most} tools of MCP servers.", mcp_only=True)


def _number(capability: Capability) -> int | None:
    value = capability.value
    return max(value, 0) if isinstance(value, int) and not isinstance(value, bool) else None
