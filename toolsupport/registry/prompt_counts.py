"""Keeps how many tokens the shortest requests of a build had, with each set of tools and without any (F9)."""

from __future__ import annotations

from django.db import transaction

from toolsupport.core.prompt.fitting import Counted, Counts
from toolsupport.models import PromptCount

WITHOUT = ""


def known(build_key: str, tools_digest: str) -> Counts:
    """What was counted for a set of tools and without tools. One query."""
    rows = PromptCount.objects.filter(build_key=build_key, tools_digest__in={tools_digest, WITHOUT})
    counted = {digest: Counted(*of) for digest, *of in rows.values_list("tools_digest", "characters", "tokens")}
    return Counts(counted.get(tools_digest) if tools_digest else None, counted.get(WITHOUT))


@transaction.atomic
def learn(build_key: str, tools_digest: str, seen: Counted) -> None:
    """Keep a count where it is of a shorter request than the one that is known."""
    fresh = {"characters": seen.characters, "tokens": seen.tokens}
    row, made = PromptCount.objects.select_for_update().get_or_create(
        build_key=build_key, tools_digest=tools_digest, defaults=fresh
    )
    if not made and seen.characters < row.characters:
        row.characters, row.tokens = seen.characters, seen.tokens
        row.save()
