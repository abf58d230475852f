"""What the team wants of tools and call formats: what is switched on, what is left out, what comes first."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from toolsupport.core import format_choice
from toolsupport.core.errors import Conflict
from toolsupport.core.types import ToolFilter
from toolsupport.registry.people import audit_log
from toolsupport.registry.settings import team_settings

# Code and outside effects wait for an administrator.
ON_BY_DEFAULT = frozenset({"A0", "A1", "A2"})


def enabled(name: str, level: str, team: Mapping[str, Any]) -> bool:
    """Whether a tool of this level is switched on; `team` are all settings in force."""
    return bool(team["tools"].get(name, level in ON_BY_DEFAULT))


@transaction.atomic
def switch(name: str, on: bool, level: str, actor: int) -> None:
    """Switch a tool on or off for every chat; where it runs code or reaches outside, that is kept in the audit.

    Whether it can work here, and whether this person may, is for the caller to know.
    """
    team_settings.put("tools", team_settings.held("tools") | {name: on})
    if level not in ON_BY_DEFAULT:
        audit_log.write(actor, "switch_tool", name, f"{name} of level {level}, switched {'on' if on else 'off'}")


@dataclass(frozen=True, slots=True)
class FormatSettings:
    """The call formats of the team: `primary` is preferred where it may be used ("" for none), `disabled` never is."""

    primary: str = ""
    disabled: frozenset[str] = frozenset()

    @property
    def stamp(self) -> str:
        """What a form carries of the state it was made from."""
        return json.dumps([self.primary, *sorted(self.disabled)])

    def __str__(self) -> str:
        first = format_choice.label(self.primary) if self.primary else "none"
        off = ", ".join(format_choice.label(name) for name in sorted(self.disabled))
        return f"First {first}, switched off {off or 'none'}."


def formats(team: Mapping[str, Any]) -> FormatSettings:
    """What is in force; `team` are all settings in force."""
    return FormatSettings(team["primary_format"], frozenset(team["disabled_formats"]))


@transaction.atomic
def put_formats(wanted: FormatSettings, seen: str) -> None:
    """Keep them. Raises Conflict where they changed since the form was made, ValueError with words for people."""
    named = {wanted.primary or format_choice.NATIVE, *wanted.disabled}
    if not named <= set(format_choice.names()):
        raise ValueError("There is no such call format.")
    if wanted.primary in wanted.disabled:
        raise ValueError("The format that comes first cannot be switched off.")
    team_settings.held("primary_format")
    before = formats(team_settings.everything())
    if wanted != before and seen != before.stamp:
        raise Conflict("Somebody else changed the formats meanwhile.", str(before))
    team_settings.put_all({"primary_format": wanted.primary, "disabled_formats": sorted(wanted.disabled)})


@transaction.atomic
def leave_out(kind: str, name: str, out: bool) -> None:
    """Leave a tool or an MCP server (`kind` tools or servers) out of every chat, or allow it again."""
    kept: dict[str, Collection[str]] = ToolFilter.read(team_settings.held("left_out")).to_json()
    names = {*kept[kind], name} if out else {*kept[kind]} - {name}
    team_settings.put("left_out", kept | {kind: sorted(names)})
