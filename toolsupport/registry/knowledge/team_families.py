"""Manages the families that a team added, and assigns models to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from toolsupport.core import families
from toolsupport.core.families import FamilyIndex
from toolsupport.models import Family, ModelProfile

# Columns of a row that a family has under the same name; "" and null are unknown there.
FACTS = (
    *("tools", "call_format", "parallel", "streaming_calls", "prompt_style", "multi_turn", "max_tools"),
    *("thinking", "vision", "context"),
)


def assign(profiles: Sequence[ModelProfile]) -> None:
    """Set the family of these rows, the team's before the shipped ones, in one query; nothing is saved.

    A family assigned by a person has precedence. The facts of a team's family are stored in the row of the model:
    readers need no other row, and all processes see a change at once.
    """
    team = [_family(row) for row in Family.objects.filter(enabled=True)]
    index, by_name = FamilyIndex(team), {family.name: family for family in team}
    for profile in profiles:
        given = profile.by_hand.get("family", "")
        own = by_name.get(given) if given else index.find(profile.name)
        shipped = families.named(given) if given else families.find(profile.name)
        found = own or shipped
        profile.team_family = _facts(own) if own else {"name": found.name} if given and found else {}
        profile.family = found.name if found else ""


@transaction.atomic
def apply() -> int:
    """Assign all models again after a change to a family; return how many changed."""
    profiles = list(ModelProfile.objects.select_related("server"))
    before = {profile.pk: (profile.family, profile.team_family) for profile in profiles}
    assign(profiles)
    changed = [profile for profile in profiles if before[profile.pk] != (profile.family, profile.team_family)]
    ModelProfile.objects.bulk_update(changed, ["family", "team_family"], batch_size=100)
    return len(changed)


def _family(row: Family) -> families.Family:
    return families.Family(
        name=row.name,
        patterns=tuple(row.patterns),
        sources=("the team",),
        excepted=frozenset(row.excepted),
        refuses=tuple(row.refuses),
        **{name: _known(getattr(row, name)) for name in FACTS},
    )


def _known(value: Any) -> Any:
    return None if value == "" else value


def _facts(family: families.Family) -> dict[str, Any]:
    return {"name": family.name, "refuses": list(family.refuses)} | {name: getattr(family, name) for name in FACTS}
