"""Stores the team's choices for tools and call formats: enabled, excluded, preferred."""

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

# Tools with code or outside effects need an administrator.
ON_BY_DEFAULT = frozenset({"A0", "A1", "A2"})
AUDITED = {"A3": "runs code", "A4": "reaches outside"}


def enabled(name: str, level: str, team: Mapping[str, Any]) -> bool:
    """Return whether a tool of this level is enabled; `team` are all effective settings."""
    return bool(team["tools"].get(name, level in ON_BY_DEFAULT))


@transaction.atomic
def switch(name: str, on: bool, level: str, actor: int) -> None:
    """Enable or disable a tool for every chat; for tools that run code or reach outside, audited.

    The caller checks whether the tool can work here, and whether this person may.
    """
    team_settings.put("tools", team_settings.held("tools") | {name: on})
    if level not in ON_BY_DEFAULT:
        audit_log.write(
            actor, "switch_tool", name, f"{name}, which {AUDITED[level]}: switched {'on' if on else 'off'}."
        )


@dataclass(frozen=True, slots=True)
class FormatSettings:
    """The team's call formats: `primary` is preferred if it may be used ("" for none), `disabled` are never used."""

    primary: str = ""
    disabled: frozenset[str] = frozenset()

    @property
    def stamp(self) -> str:
        """The state that a form was made from, to detect concurrent changes."""
        return json.dumps([self.primary, *sorted(self.disabled)])

    def __str__(self) -> str:
        first = format_choice.label(self.primary) if self.primary else "none"
        off = ", ".join(format_choice.label(name) for name in sorted(self.disabled))
        return f"First {first}, switched off {off or 'none'}."


def formats(team: Mapping[str, Any]) -> FormatSettings:
    """Return the effective formats; `team` are all effective settings."""
    return FormatSettings(team["primary_format"], frozenset(team["disabled_formats"]))


@transaction.atomic
def put_formats(wanted: FormatSettings, seen: str) -> None:
    """Store them. Raises Conflict if they changed since the form was made, ValueError with a message for people."""
    named = {wanted.primary or format_choice.NATIVE, *wanted.disabled}
    if not named <= set(format_choice.names()):
        raise ValueError("This call format does not exist.")
    if wanted.primary in wanted.disabled:
        raise ValueError("The format that comes first cannot be switched off.")
    team_settings.held("primary_format")
    before = formats(team_settings.everything())
    if wanted != before and seen != before.stamp:
        raise Conflict("Another person changed the formats in the meantime.", str(before))
    team_settings.put_all({"primary_format": wanted.primary, "disabled_formats": sorted(wanted.disabled)})


@transaction.atomic
def leave_out(kind: str, name: str, out: bool) -> None:
    """Exclude a tool or an MCP server (`kind` tools or servers) from every chat, or allow it again."""
    kept: dict[str, Collection[str]] = ToolFilter.read(team_settings.held("left_out")).to_json()
    names = {*kept[kind], name} if out else {*kept[kind]} - {name}
    team_settings.put("left_out", kept | {kind: sorted(names)})
