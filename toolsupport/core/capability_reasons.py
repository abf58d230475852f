"""Writes the sentences that explain why a capability has its value."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby

from toolsupport.core.families import FamilyProfile
from toolsupport.core.override_ranking import OverrideRow, OverrideStatus, rank

LABELS = {
    "tools": "native tools",
    "format": "a text format that works",
    "parallel": "several calls at once",
    "streaming": "streaming of calls",
    "multi_turn": "calls over several turns",
    "leaves_alone": "answers without a call when none is needed",
    "thinking": "thinking",
    "tools_thinking": "calls with thinking on and off",
    "vision": "vision",
    "max_tools": "the most tools at once",
    "prompt_style": "the prompt style",
    "call_format": "the preferred call format",
    "context": "the context in tokens",
    "constrains": "constrained output",
    "constrains_patterns": "constrained patterns of texts",
    "tool:read_file": "reading files",
    "tool:write_file": "writing files",
    "tool:list_directory": "listing folders",
    "tool:edit_file": "editing files",
    "tool:bash": "commands in bash",
}

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def label(capability: str) -> str:
    """Return the name of a capability for people; a tool without words of its own has its name in backquotes."""
    return LABELS.get(capability, f"the tool `{capability.removeprefix('tool:')}`")


def in_force(entry: OverrideStatus, overridden: Sequence[OverrideStatus], family: FamilyProfile | None) -> str:
    """Return a sentence that names the entry in force and the best one of each lower rank. `overridden` is ranked."""
    if entry.claim is None:
        return _of_family(entry, family.name if family else "")
    phrase = _phrase(entry, family)
    others = [_phrase(next(group), family) for _, group in groupby(overridden, rank)]
    lower = ["an earlier one" if other == phrase else other for other in others]
    outcome = f"overrides {_list(lower)}." if lower else "is the only source."
    older = " It was set for an older build." if entry.stale and entry.source == "user_confirmed" else ""
    # A person's name stays as it is written.
    named = entry.claim.source == "user_confirmed" and phrase.startswith(entry.claim.actor or "\n")
    first = phrase[:1] if named else phrase[:1].upper()
    return f"{first}{phrase[1:]} {outcome}{older}"


def of_nothing(capability: str, family: FamilyProfile | None) -> str:
    """Return the sentence for a capability without any claim."""
    table = f", and the profile of {family.name} models has no value" if family else ""
    return f"There is no evidence about {label(capability)}{table}."


def _of_family(entry: OverrideStatus, family: str) -> str:
    if entry.capability == "tools":
        verb = "call" if entry.value else "do not call"
        return f"The family table says {family} models {verb} tools natively (profile)."
    value = ("yes" if entry.value else "no") if isinstance(entry.value, bool) else entry.value
    return f"The family table says for {family} models: {label(entry.capability)}, {value} (profile)."


# Claims of each source as people read them; {} stands for the date.
PHRASES = {
    "user_confirmed": "an override{}",
    "auto_detected": "the test{}",
    "runtime_error": "an error in a chat{}",
    "declared": "the server's claim{}",
}


def _phrase(entry: OverrideStatus, family: FamilyProfile | None) -> str:
    if entry.claim is None:
        return f"the profile of {family.name} models" if family else "the profile"
    named = _named(entry.claim)
    framed = {"session": f"the setting of this chat ({named})", "auto_detected_stale": f"{named} on an older build"}
    return framed.get(entry.source, named)


def _named(claim: OverrideRow) -> str:
    when = f" of {day(claim.created_at)}" if claim.created_at else ""
    if claim.actor and claim.source == "user_confirmed":
        return f"{claim.actor}'s override{when}"
    return PHRASES.get(claim.source, claim.source.replace("_", " ") + "{}").format(when)


def day(moment: str) -> str:
    """Format `2026-11-03T10:00:00Z` as `3 Nov 2026`; return anything but an ISO date unchanged."""
    try:
        date = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    return f"{date.day} {_MONTHS[date.month - 1]} {date.year}"


def _list(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
