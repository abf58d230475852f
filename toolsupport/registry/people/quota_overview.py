"""Lists the quotas of roles, people and keys with their use, for administrators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from toolsupport.core import quota_rules
from toolsupport.core.quota_rules import KEY, PERSON, ROLE, Quota, QuotaShare
from toolsupport.models import ApiKey
from toolsupport.registry.people import accounts, quota_use, quotas
from toolsupport.registry.people.permissions import ROLES


@dataclass(frozen=True, slots=True)
class ListedQuota:
    """A subject as the page shows it; `own`: a quota was set for it, not only for its role or for everybody."""

    kind: str
    subject: str
    name: str
    shares: tuple[QuotaShare, ...]
    own: bool

    @property
    def state(self) -> str:
        """A state of quota_rules, "" while enough is left."""
        return quota_rules.state(self.shares) if self.kind != ROLE else ""


@dataclass(frozen=True, slots=True)
class QuotaOverview:
    """All subjects: those with a quota, and the names of those that may get one, as (kind:subject, name)."""

    listed: tuple[ListedQuota, ...]
    choices: tuple[tuple[str, str], ...]


def overview() -> QuotaOverview:
    """Return all quotas with their use, in a fixed number of queries."""
    people = accounts.listed()
    keys = tuple(ApiKey.objects.filter(revoked_at=None).select_related("person"))
    choices = [(ROLE, role, f"role {role}") for role in ROLES]
    choices += [(PERSON, str(person.id), person.name) for person in people]
    choices += [(KEY, str(key.pk), f"key {key.prefix}… ({key.name}) of {key.person}") for key in keys]
    listed = tuple(_listed(choices, {str(person.id): person.role for person in people}))
    return QuotaOverview(listed, tuple((f"{kind}:{subject}", name) for kind, subject, name in choices))


def _listed(choices: list[tuple[str, str, str]], roles: Mapping[str, str]) -> Iterator[ListedQuota]:
    rows, used = quotas.table.rows(), quota_use.of_all()
    for kind, subject, name in choices:
        own = rows.get((kind, subject), Quota())
        quota = quotas.combined(rows, subject, roles[subject]) if kind == PERSON else own
        count = {} if kind == ROLE else used.get((kind, int(subject)), {})
        shares = tuple(quota_rules.shares(quota, count))
        if shares or own != Quota():
            yield ListedQuota(kind, subject, name, shares, own != Quota())
