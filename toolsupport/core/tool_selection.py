"""Chooses which tools a request carries in which format, with the rule that decided for each tool."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, TypeVar

from toolsupport.core import format_choice
from toolsupport.core.format_choice import FormatDecision, FormatPreferences
from toolsupport.core.formats.code_mode import TOOL as CODE_TOOL
from toolsupport.core.formats.code_mode import callable_name
from toolsupport.core.tool_limits import ToolLimit, limits_of
from toolsupport.core.types import Capabilities, Exclusion, ToolFilter, ToolSpec

Subject = TypeVar("Subject")
Kind = Literal["builtin", "mcp", "search", "sql"]
# Kind → the sentence about an included tool.
INCLUDED = MappingProxyType(
    {
        "builtin": "On, allowed in this chat, and working.",
        "mcp": "On and allowed, as is its server; its definition is approved, and a search found it for this chat.",
        "search": "There are tools that it can find.",
        "sql": "A database is available.",
    }
)
# The rules that exclude tools that another model would be offered.
LIMITS = frozenset({"max_tools", "mcp_limit"})
NATIVE_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tool that might be offered.

    `enabled` is the team's switch, `missing` the reason why it is not available ("" if it can). `connected`: its MCP
    server (`server`) or any database is enabled. `approved`: a person approved its present definition. `materialised`:
    a search found it for this conversation; the most relevant ones stay under a limit.
    `in_programs`: a program of the model may call it.
    """

    spec: ToolSpec
    enabled: bool = True
    missing: str = ""
    kind: Kind = "builtin"
    server: str = ""
    connected: bool = True
    approved: bool = True
    materialised: bool = False
    relevance: float = 0.0
    in_programs: bool = True

    @property
    def usable(self) -> bool:
        """Whether it may run at all, for any model or conversation."""
        return self.enabled and not self.missing and self.connected and self.approved


@dataclass(frozen=True, slots=True)
class ToolPreferences:
    """The preferences of the team and of the people in a conversation.

    `tools_on` False switches tools off; None and True leave it to the model's capabilities. `team` and `chat` name
    excluded tools. `formats` are their preferred formats. `may_call` False: the model's options forbid calls.
    `parameters` is the model's size, if known; `hosted`: a large model that hosting services run.
    """

    tools_on: bool | None = None
    team: ToolFilter = field(default_factory=ToolFilter)
    chat: ToolFilter = field(default_factory=ToolFilter)
    formats: FormatPreferences = field(default_factory=FormatPreferences)
    may_call: bool = True
    parameters: int | None = None
    hosted: bool = False


@dataclass(frozen=True, slots=True)
class ToolDecision:
    """One tool, included or not, with the name of the deciding rule: its kind if it is included."""

    candidate: Candidate
    included: bool
    rule: str
    reason: str

    @property
    def name(self) -> str:
        return self.candidate.spec.name


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The offered tools. `format` is native, a text format, or "" if no tool is offered; the reasons are for people.

    `verdicts` has every candidate. `fallbacks` are the formats to continue with, in order, if this one fails in a turn;
    `formats` are all formats with the reason for or against each. `limits` are those of this model. `usable` names the
    tools that may run in this chat, whether or not the model is offered them. `if_refused` is the text format for the
    case that the server refuses native tools and no fallback is known.
    """

    verdicts: tuple[ToolDecision, ...]
    format: str
    format_reason: str
    fallbacks: tuple[str, ...] = ()
    formats: tuple[FormatDecision, ...] = ()
    limits: tuple[ToolLimit, ...] = ()
    usable: frozenset[str] = frozenset()
    if_refused: str = ""

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return tuple(verdict.candidate.spec for verdict in self.verdicts if verdict.included)

    @property
    def hidden(self) -> tuple[ToolSpec, ...]:
        """The tools that a model may call without being offered them: the search, if a limit excluded it."""
        searches = (one for one in self.verdicts if one.candidate.kind == "search" and not one.included)
        return tuple(one.candidate.spec for one in searches if self.format and one.rule in LIMITS)

    @property
    def spare(self) -> tuple[str, ...]:
        """The tools that may be left out if room is short, in that order; the first tool always stays."""
        return tuple(self.verdicts[number].name for number in reversed(_ranked(self.verdicts)[1:]))

    @property
    def excluded(self) -> tuple[Exclusion, ...]:
        return tuple(Exclusion(one.name, one.rule, one.reason) for one in self.verdicts if not one.included)


@dataclass(frozen=True, slots=True)
class _ServedModel:
    """The input of the barriers: the capabilities, and the formats in which the model can be served."""

    capabilities: Capabilities
    usable: tuple[str, ...]
    preferences: ToolPreferences


@dataclass(frozen=True, slots=True)
class _RuleInput:
    """The input of the rules. `deferred`: some tools wait until a search finds them."""

    candidate: Candidate
    preferences: ToolPreferences
    format: str = ""
    deferred: bool = False


def choose(capabilities: Capabilities, candidates: Sequence[Candidate], preferences: ToolPreferences) -> Toolbox:
    """Decide for each candidate; under a limit built-in tools stay first, then the most relevant ones.

    Native tools are offered only to a model known to call them; tools in text to a model known to write parseable
    calls, or if the team enables that for all.
    """
    unwanted = [_first(WANTED, _RuleInput(one, preferences)) for one in candidates]
    wanted = frozenset(one.spec.name for one, against in zip(candidates, unwanted, strict=True) if against is None)
    formats = format_choice.judged(capabilities, replace(preferences.formats, code_tool=CODE_TOOL in wanted))
    usable = format_choice.usable(formats)
    limits = limits_of(capabilities, preferences.parameters, preferences.hosted)
    barrier = _first(BARRIERS, _ServedModel(capabilities, usable, preferences))
    if barrier:
        verdicts = tuple(ToolDecision(candidate, False, *barrier) for candidate in candidates)
        return Toolbox(verdicts, "", barrier[1], (), formats, limits, wanted)
    waiting = any(one.kind == "mcp" and not one.materialised and one.spec.name in wanted for one in candidates)
    cases = (_RuleInput(one, preferences, usable[0], waiting) for one in candidates)
    verdicts = _within(limits, [_judged(case, against) for case, against in zip(cases, unwanted, strict=True)])
    if not any(verdict.included for verdict in verdicts):
        return Toolbox(verdicts, "", NONE_LEFT, (), formats, limits, wanted)
    untested = format_choice.if_refused(capabilities, preferences.formats)
    return Toolbox(verdicts, usable[0], formats[0].reason, usable[1:], formats, limits, wanted, untested)


NONE_LEFT = "The model can call tools, but no tool is left to offer."


# -- rules that exclude all tools --


def _tools_off(model: _ServedModel) -> str:
    return "Tools are off in this chat." if model.preferences.tools_on is False else ""


def _never_calls(model: _ServedModel) -> str:
    return "" if model.preferences.may_call else "The settings of this model rule out tool calls."


def _unknown(model: _ServedModel) -> str:
    if model.capabilities["tools"].known or model.usable:
        return ""
    return "No test has shown yet whether this model can call tools, so none are sent."


def _unsupported(model: _ServedModel) -> str:
    tools = model.capabilities["tools"]
    if model.usable:
        return ""
    if tools.value is True:
        return "Every call format is turned off for this model."
    return f"This model cannot call tools. {tools.reason}".strip()


# -- rules that exclude one tool --


def _server_off(case: _RuleInput) -> str:
    off = case.candidate.kind == "mcp" and not case.candidate.connected
    return f"Its server {case.candidate.server} is off." if off else ""


def _no_source(case: _RuleInput) -> str:
    return "No database is available." if case.candidate.kind == "sql" and not case.candidate.connected else ""


def _disabled(case: _RuleInput) -> str:
    return "" if case.candidate.enabled else "The team has turned this tool off."


def _unapproved(case: _RuleInput) -> str:
    waits = case.candidate.kind == "mcp" and not case.candidate.approved
    return "Its current definition is not approved." if waits else ""


def _missing(case: _RuleInput) -> str:
    return f"Not available: {case.candidate.missing}" if case.candidate.missing else ""


def _server_left_out(case: _RuleInput) -> str:
    if case.candidate.kind != "mcp":
        return ""
    return _left_out(f"the server {case.candidate.server}", case.candidate.server, "servers", case.preferences)


def _tool_left_out(case: _RuleInput) -> str:
    return _left_out("this tool", case.candidate.spec.name, "tools", case.preferences)


def _left_out(what: str, name: str, kind: Literal["tools", "servers"], preferences: ToolPreferences) -> str:
    if name in getattr(preferences.team, kind):
        return f"The team leaves {what} out."
    return f"This chat leaves {what} out." if name in getattr(preferences.chat, kind) else ""


def _unnameable(case: _RuleInput) -> str:
    name = case.candidate.spec.name
    if case.format == format_choice.CODE and not callable_name(name):
        return "Calls are written as code here, and its name cannot be used in code."
    if case.format == format_choice.CODE and name != CODE_TOOL and not case.candidate.in_programs:
        return "Calls are written as code here, and programs cannot call it."
    if case.format == format_choice.NATIVE and case.candidate.kind == "mcp" and not NATIVE_NAME.fullmatch(name):
        return "Servers take names of up to 64 letters, digits, _ and - only."
    return ""


def _nothing_to_find(case: _RuleInput) -> str:
    return "" if case.deferred or case.candidate.kind != "search" else "There is no tool that it can find."


def _deferred(case: _RuleInput) -> str:
    waits = case.candidate.kind == "mcp" and not case.candidate.materialised
    return "Offered once a search finds it for this chat." if waits else ""


# The first rule with a reason decides. Barriers keep everything out, rules a single tool: those of WANTED whatever the
# model is, those of OFFERED from one request.
BARRIERS: Mapping[str, Callable[[_ServedModel], str]] = MappingProxyType(
    {
        "tools_off": _tools_off,
        "tool_choice": _never_calls,
        "unknown": _unknown,
        "unsupported": _unsupported,
    }
)
WANTED: Mapping[str, Callable[[_RuleInput], str]] = MappingProxyType(
    {
        "server_disabled": _server_off,
        "no_source": _no_source,
        "disabled": _disabled,
        "unapproved": _unapproved,
        "missing": _missing,
        "server_filtered": _server_left_out,
        "filtered": _tool_left_out,
    }
)
OFFERED: Mapping[str, Callable[[_RuleInput], str]] = MappingProxyType(
    {
        "format": _unnameable,
        "nothing_deferred": _nothing_to_find,
        "deferred": _deferred,
    }
)
RULES = MappingProxyType({**WANTED, **OFFERED})


def _first(rules: Mapping[str, Callable[[Subject], str]], subject: Subject) -> tuple[str, str] | None:
    """Return the name and the reason of the first rule that objects."""
    for name, rule in rules.items():
        if reason := rule(subject):
            return name, reason
    return None


def _judged(case: _RuleInput, unwanted: tuple[str, str] | None) -> ToolDecision:
    kind, against = case.candidate.kind, unwanted or _first(OFFERED, case)
    return ToolDecision(case.candidate, against is None, *(against or (kind, INCLUDED[kind])))


def _ranked(verdicts: Sequence[ToolDecision]) -> list[int]:
    """Return the positions of the included tools: built-in tools first, then the most relevant ones."""
    return sorted(
        (number for number, verdict in enumerate(verdicts) if verdict.included),
        key=lambda number: (verdicts[number].rule == "mcp", -verdicts[number].candidate.relevance),
    )


def _within(limits: Sequence[ToolLimit], verdicts: Sequence[ToolDecision]) -> tuple[ToolDecision, ...]:
    """Drop tools over a limit; the rest keeps its order, so that the beginning of the prompt stays the same."""
    ranked = _ranked(verdicts)
    kept = list(verdicts)
    for limit in limits:
        counted = [number for number in ranked if kept[number].included and limit.counts(kept[number].rule)]
        for number in counted[limit.most :]:
            kept[number] = replace(verdicts[number], included=False, rule=limit.rule, reason=limit.reason)
    return tuple(kept)
