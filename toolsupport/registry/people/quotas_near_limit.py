"""Finds the people and keys whose quota is used up, or nearly, for administrators."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models.functions import Now

from toolsupport.core import quota_rules
from toolsupport.core.quota_rules import KEY, PERSON, Quota
from toolsupport.models import ApiKey
from toolsupport.registry.people import quota_use, quotas

FRESH = 30.0  # seconds after which a quota set in another process counts here: every page of an administrator needs it


def open_marks() -> dict[tuple[str, int], str]:
    """Return FULL or CLOSE by kind and id; without any quota nothing is read.

    A mark ends with a larger quota, the next day or month, or the end of the account or key.
    """
    rows = quotas.table.rows(FRESH)
    if not quotas.of_environment().limits and not any(quota.limits for quota in rows.values()):
        return {}
    used = quota_use.of_all()
    people, keys = ([pk for kind, pk in used if kind == wanted] for wanted in (PERSON, KEY))
    roles = quotas.roles_of(User.objects.filter(pk__in=people, is_active=True).values_list("pk", flat=True))
    valid = ApiKey.objects.filter(pk__in=keys, revoked_at=None).exclude(expires_at__lte=Now())
    held = {(PERSON, pk): quotas.combined(rows, str(pk), role) for pk, role in roles.items()}
    held |= {(KEY, pk): rows.get((KEY, str(pk)), Quota()) for pk in valid.values_list("pk", flat=True)}
    states = {holder: quota_rules.state(quota_rules.shares(quota, used[holder])) for holder, quota in held.items()}
    return {holder: state for holder, state in states.items() if state}
