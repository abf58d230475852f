"""Manages the families that a team added, and assigns models to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from toolsupport.core import families
from toolsupport.core.errors import NotFound
from toolsupport.core.families import FamilyIndex
from toolsupport.core.families.name_words import pattern_words
from toolsupport.core.name_order import by_name
from toolsupport.models import Family, ModelProfile
from toolsupport.registry import any_case, write_steps

# The type of a row for pages.
TeamFamily = Family

# Columns of a row that a family has under the same name; "" and null are unknown there.
FACTS = (
    *("tools", "call_format", "parallel", "streaming_calls", "prompt_style", "multi_turn", "max_tools"),
    *("thinking", "vision", "context"),
)
STORED = ("family", "team_family")  # columns of a model


def assign(profiles: Sequence[ModelProfile]) -> None:
    """Set the family of these rows, the team's before the built-in ones, in one query; nothing is saved.

    A family assigned by a person has precedence. The facts of a team's family are stored in the row of the model:
    readers need no other row, and all processes see a change at once.
    """
    _assign(profiles, Family.objects.filter(enabled=True))


def _assign(profiles: Sequence[ModelProfile], rows: Iterable[Family]) -> None:
    team = [_family(row) for row in rows]
    index, by_name = FamilyIndex(team), {family.name: family for family in team}
    for profile in profiles:
        given = profile.by_hand.get("family", "")
        own = by_name.get(given) if given else index.find(profile.name)
        shipped = families.named(given) if given else families.find(profile.name)
        found = own or shipped
        profile.team_family = _facts(own) if own else {"name": found.name} if given and found else {}
        profile.family = found.name if found else ""


def apply() -> int:
    """Assign all models again after a change to a family, in steps; return how many changed.

    Models that an interruption leaves out are assigned when their server is asked again.
    """
    profiles = list(ModelProfile.objects.select_related("server"))
    before = {profile.pk: (profile.family, profile.team_family) for profile in profiles}
    assign(profiles)
    changed = [profile for profile in profiles if before[profile.pk] != (profile.family, profile.team_family)]
    return sum(write_steps.of_each(changed, lambda part: ModelProfile.objects.bulk_update(part, STORED)))


def _family(row: Family) -> families.FamilyProfile:
    return families.FamilyProfile(
        name=row.name,
        patterns=tuple(row.patterns),
        sources=("the team",),
        excepted=frozenset(row.excepted),
        refuses=tuple(row.refuses),
        **{name: _known(getattr(row, name)) for name in FACTS},
    )


def _known(value: Any) -> Any:
    return None if value == "" else value


def _facts(family: families.FamilyProfile) -> dict[str, Any]:
    return {"name": family.name, "refuses": list(family.refuses)} | {name: getattr(family, name) for name in FACTS}


@dataclass(frozen=True, slots=True)
class FamilyMove:
    """A model whose family or facts a change of the team's families would change; "" is no known family."""

    profile: int
    model: str
    server: str
    before: str
    after: str


def listed() -> list[tuple[Family, int]]:
    """Return every family of the team with the number of its models: two queries."""
    named = ModelProfile.objects.exclude(team_family={}).values_list("team_family__name", flat=True)
    counts = Counter(named)
    return [(row, counts[row.name]) for row in sorted(Family.objects.all(), key=lambda row: by_name(row.name))]


def blank() -> Family:
    """Return a new family, which is not saved."""
    return Family(patterns=[])


def get(family_id: int) -> Family:
    """Return one family. Raises NotFound."""
    row = Family.objects.filter(pk=family_id).first()
    if row is None:
        raise NotFound("This family does not exist.")
    return row


def preview(changed: Family, removed: bool = False) -> list[FamilyMove]:
    """Return the models that saving this family, or removing it, would change; nothing is saved."""
    others = list(Family.objects.filter(enabled=True).exclude(pk=changed.pk))
    team = others if removed or not changed.enabled else [*others, changed]
    profiles = sorted(ModelProfile.objects.select_related("server"), key=lambda row: by_name(row.name, row.server.name))
    before = {profile.pk: (profile.family, profile.team_family) for profile in profiles}
    _assign(profiles, team)
    return [
        FamilyMove(profile.pk, profile.name, profile.server.name, before[profile.pk][0], profile.family)
        for profile in profiles
        if before[profile.pk] != (profile.family, profile.team_family)
    ]


def save(family: Family) -> int:
    """Save a family; return how many models changed."""
    family.save()
    return apply()


def remove(family_id: int) -> int:
    """Delete a family; its models use the built-in table again. Returns how many changed. Raises NotFound."""
    get(family_id).delete()
    return apply()


def taken(patterns: Iterable[str], but: int) -> str:
    """Return the name of another family of the team with one of these patterns, in any spelling; "" if none has."""
    wanted = {pattern_words(pattern) for pattern in patterns}
    for row in Family.objects.exclude(pk=but):
        if not wanted.isdisjoint(map(pattern_words, row.patterns)):
            return row.name
    return ""


def named_like(name: str, but: int) -> bool:
    """Return whether another family of the team has this name."""
    return Family.objects.filter(any_case.same("name", name)).exclude(pk=but).exists()
