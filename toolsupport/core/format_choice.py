"""Chooses the format in which a model is offered tools, with a reason for each rejected format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from toolsupport.core.formats import FORMATS, forced_json
from toolsupport.core.team_switches import TeamSwitches
from toolsupport.core.types import Capabilities

NATIVE = "native"
CODE = "code_mode"
FORCED = forced_json.NAME
# The sources that are decisions of people.
DECIDED = ("session", "user_confirmed")
# Formats for parsing only: no instructions for models exist.
READ_ONLY = frozenset({"auto"})

# Preferences of chats and of the team for which the formats of one model are kept.
MOST_DERIVED = 64


@dataclass(frozen=True, slots=True)
class FormatPreferences:
    """The formats that people and the team prefer or exclude.

    `preferred` are names in descending order: from the conversation, the person, the model's profile. `disabled` are
    names that are switched off, for the team or for this model. `code_tool`: the tool that runs code is among the
    tools. `asked` is the text format that a person requested now: it is used even if no test found that it works.
    """

    preferred: tuple[str, ...] = ()
    disabled: frozenset[str] = frozenset()
    switches: TeamSwitches = field(default_factory=TeamSwitches)
    code_tool: bool = False
    asked: str = ""


@dataclass(frozen=True, slots=True)
class FormatDecision:
    """One format: whether it is `usable`, the reason, and its `label` for people."""

    name: str
    label: str
    usable: bool
    reason: str


def names() -> tuple[str, ...]:
    """Return every format that may be chosen, in the general order of preference."""
    return (NATIVE, *(name for name in FORMATS if name not in READ_ONLY))


def label(name: str) -> str:
    """Return the name of a format for people."""
    return FORMATS[name].label if name in FORMATS else name.capitalize()


def text_for(capabilities: Capabilities) -> str:
    """Return the text format to try with a model: one that works, else the family's own, else the first."""
    known = (capabilities["format"].value, capabilities["call_format"].value)
    texts = [name for name in names() if name not in (NATIVE, CODE, FORCED)]
    return next((name for name in known if name in texts), texts[0])


def if_refused(capabilities: Capabilities, preferences: FormatPreferences) -> str:
    """Return the text format to try after a server's refusal, if no test found one; "" for none.

    That is for a model that a person gave tools where no test has looked for a format, and for one that needs
    constrained output. The order is the usual one: preferred, the family's own, the table.
    """
    tools, constrained = capabilities["tools"], capabilities["format"].value == FORCED
    decided = tools.value is True and tools.source in DECIDED and not capabilities["format"].known
    if not (decided or constrained) or not preferences.switches.allows_text_formats:
        return ""
    forces = not constrained and may_force(capabilities, preferences.switches)
    left_out = {NATIVE, CODE, *preferences.disabled, *(() if forces else (FORCED,))}
    return next((name for name in _ordered(capabilities, preferences) if name not in left_out), "")


def may_force(capabilities: Capabilities, switches: TeamSwitches) -> bool:
    """Return whether replies of this model may be constrained to a schema."""
    return switches.forces and capabilities["constrains"].value == "enforced"


def judged(capabilities: Capabilities, preferences: FormatPreferences) -> tuple[FormatDecision, ...]:
    """Return every format: the usable ones in the order in which they would be tried, then the others."""
    kept: tuple[FormatDecision, ...] | None = capabilities.derived.get(preferences)
    if kept is None:
        if len(capabilities.derived) >= MOST_DERIVED:
            capabilities.derived.clear()
        kept = capabilities.derived[preferences] = _judged(capabilities, preferences)
    return kept


def _judged(capabilities: Capabilities, preferences: FormatPreferences) -> tuple[FormatDecision, ...]:
    verdicts = [_verdict(name, capabilities, preferences) for name in _ordered(capabilities, preferences)]
    return tuple(sorted(verdicts, key=lambda verdict: not verdict.usable))


def _ordered(capabilities: Capabilities, preferences: FormatPreferences) -> list[str]:
    """Sort: preferred, native, formats that work, the family's own format, then the order of the table."""
    known = (capabilities["format"].value, capabilities["call_format"].value)
    wanted = (*preferences.preferred, NATIVE, *(name for name in known if isinstance(name, str)), *names())
    existing = set(names())
    return list(dict.fromkeys(name for name in wanted if name in existing))


def _verdict(name: str, capabilities: Capabilities, preferences: FormatPreferences) -> FormatDecision:
    against = next((reason for rule in RULES.values() if (reason := rule(name, capabilities, preferences))), "")
    return FormatDecision(name, label(name), not against, against or _why(name, capabilities, preferences))


def _disabled(name: str, _: Capabilities, preferences: FormatPreferences) -> str:
    return "It is turned off." if name in preferences.disabled else ""


def _native(name: str, capabilities: Capabilities, _: FormatPreferences) -> str:
    if name != NATIVE or capabilities["tools"].value is True:
        return ""
    return capabilities["tools"].reason


def _code(name: str, _: Capabilities, preferences: FormatPreferences) -> str:
    if name != CODE:
        return ""
    if not preferences.switches.allows_code_mode:
        return "The team has turned off calls written as code."
    return "" if preferences.code_tool else "It needs the tool `python_execution`, which is off."


def _constrained(name: str, capabilities: Capabilities, preferences: FormatPreferences) -> str:
    if name != FORCED or may_force(capabilities, preferences.switches):
        return ""
    if not preferences.switches.forces:
        return "The team has turned off constrained output."
    return "No test has shown that its server enforces a schema for this model."


def _text(name: str, capabilities: Capabilities, preferences: FormatPreferences) -> str:
    """The rule of every format that is text. Calls written as code have a switch of their own (`_code`)."""
    if name == NATIVE:
        return ""
    switches, works = preferences.switches, capabilities["format"].value == name
    if name != CODE and not switches.allows_text_formats:
        return "The team has turned off calls written as text."
    if name == preferences.asked or (name == FORCED and _is_last_resort(capabilities)):
        return ""
    if switches.allows_code(works) if name == CODE else switches.allows_text_format(works):
        return _unknown(capabilities, works) or _failed(name, capabilities)
    native = capabilities["tools"].value is True and name in preferences.preferred
    return "" if native else "No test or chat has shown that this model can write it."


def _is_last_resort(capabilities: Capabilities) -> bool:
    """Return whether calls work in another form; constrained output may then be used if that fails in a turn."""
    return capabilities["tools"].value is True or isinstance(capabilities["format"].value, str)


def _unknown(capabilities: Capabilities, works: bool) -> str:
    """Reject text formats while support for native tools is unknown: that is tested first."""
    if works or capabilities["tools"].known:
        return ""
    return "Native tool calls are not measured yet. They are tested first."


def _failed(name: str, capabilities: Capabilities) -> str:
    """Reject text formats for a model that failed them in a test, even if the team enables text for all models."""
    if name == CODE or capabilities["format"].value is not False:
        return ""
    return "A test found no text format that works with this model."


# The first rule with a reason against a format decides.
RULES: Mapping[str, Callable[[str, Capabilities, FormatPreferences], str]] = MappingProxyType(
    {"disabled": _disabled, "native": _native, "code": _code, "constrained": _constrained, "text": _text}
)


def _why(name: str, capabilities: Capabilities, preferences: FormatPreferences) -> str:
    if name == preferences.asked:
        return f"{label(name)} was chosen for this answer."
    if name in preferences.preferred:
        return f"{label(name)} is the preferred format here."
    if name == NATIVE:
        return capabilities["tools"].reason
    if capabilities["format"].value == name:
        return capabilities["format"].reason
    if name == FORCED:
        return "Its server enforces the form of calls, so constrained output is used where another format fails."
    return "The team has turned on calls written as text for all models."


def usable(verdicts: Sequence[FormatDecision]) -> tuple[str, ...]:
    """Return the names of the usable formats; the first is used."""
    return tuple(verdict.name for verdict in verdicts if verdict.usable)
