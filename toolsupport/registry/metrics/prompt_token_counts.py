"""Stores the token counts of the shortest requests of a build, per set of tools and without any (F9)."""

from __future__ import annotations

from django.db import transaction

from toolsupport.core.prompt.token_counts import MeasuredPrompt, TokenCounts
from toolsupport.models import PromptCount
from toolsupport.registry import row_cache

WITHOUT = ""
# Every answer asks.
KNOWN = """SELECT tools_digest, characters, tokens FROM toolsupport_promptcount
WHERE build_key = %s AND tools_digest IN (%s, %s)"""


def known(build_key: str, tools_digest: str) -> TokenCounts:
    """Return the counts with a set of tools and without tools. One query."""
    found = row_cache.rows(KNOWN, build_key, tools_digest, WITHOUT)
    counted = {digest: MeasuredPrompt(*of) for digest, *of in found}
    return TokenCounts(counted.get(tools_digest) if tools_digest else None, counted.get(WITHOUT))


def is_new(build_key: str, tools_digest: str, seen: MeasuredPrompt) -> bool:
    """Return whether the request of a count is shorter than the stored one, or none is stored."""
    counts = known(build_key, tools_digest)
    stored = counts.with_tools if tools_digest else counts.without
    return stored is None or seen.characters < stored.characters


@transaction.atomic
def learn(build_key: str, tools_digest: str, seen: MeasuredPrompt) -> None:
    """Store a count if its request is shorter than the stored one."""
    fresh = {"characters": seen.characters, "tokens": seen.tokens}
    row, made = PromptCount.objects.select_for_update().get_or_create(
        build_key=build_key, tools_digest=tools_digest, defaults=fresh
    )
    if not made and seen.characters < row.characters:
        row.characters, row.tokens = seen.characters, seen.tokens
        row.save()
