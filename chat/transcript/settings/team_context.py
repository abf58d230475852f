"""Reads the settings of the team, its prompts and a person's databases for a request, in one statement."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from chat.tools.stores import NamedPrompt
from chat.transcript.settings import prompt_context
from toolsupport.registry import raw_sql, row_cache
from toolsupport.registry.databases import sql_sources
from toolsupport.registry.settings import team_settings

STORED = f"""SELECT 'setting', "key", CAST(value AS text) FROM ({team_settings.STORED}) AS settings
UNION ALL SELECT 'prompt', name, description FROM ({prompt_context.OFFERED}) AS prompts
UNION ALL SELECT 'database', name, kind FROM ({sql_sources.NAMES}) AS sources ORDER BY 1, 2"""


@dataclass(frozen=True, slots=True)
class TeamContext:
    """All effective settings, the available prompts, and the names of the databases for the model."""

    settings: dict[str, Any]
    prompts: tuple[NamedPrompt, ...] = ()
    databases: str = ""


def read(person: int) -> TeamContext:
    """Return what is stored now; the same object as long as no row changes."""
    return row_cache.read(_read, person)


def _read(person: int) -> TeamContext:
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for kind, name, value in raw_sql.rows(STORED, person):
        found[kind].append((name, value))
    prompts = tuple(NamedPrompt(name, description) for name, description in found["prompt"])
    return TeamContext(team_settings.in_force(found["setting"]), prompts, sql_sources.in_words(found["database"]))
