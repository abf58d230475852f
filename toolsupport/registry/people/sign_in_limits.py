"""Limits sign-in attempts, counted in rows, so that all processes share the counts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from toolsupport.core.errors import Busy
from toolsupport.models import SignInTally

WINDOW = timedelta(minutes=5)

# Attempts in a window. One name from one address is a forgotten password, or guessing; one address with many names
# is a list being tried; one name from many addresses has a high limit, so that no attacker can quickly lock it out.
PAIR, ADDRESS, NAME = 8, 60, 60


def attempt(name: str, address: str) -> None:
    """Count an attempt before the password is checked. Raises Busy with a message for people after too many."""
    with transaction.atomic():
        SignInTally.objects.filter(until__lte=timezone.now()).delete()
        over = [_count(key) > most for key, most in _keys(name, address)]
    if any(over):
        minutes = int(WINDOW.total_seconds() // 60)
        raise Busy(f"That was tried too often. Wait {minutes} minutes, then try again.", "sign_in")


def succeeded(name: str, address: str) -> None:
    """Reset the attempts of a name from an address after a successful sign-in."""
    pair, _ = next(_keys(name, address))
    SignInTally.objects.filter(key=pair).delete()


def _count(key: str) -> int:
    SignInTally.objects.get_or_create(key=key, defaults={"until": timezone.now() + WINDOW})
    SignInTally.objects.filter(key=key).update(tries=F("tries") + 1)
    return SignInTally.objects.values_list("tries", flat=True).get(key=key)


def _keys(name: str, address: str) -> Iterator[tuple[str, int]]:
    """Return digests: a typed name may be a password in the wrong field."""
    folded = name.strip().casefold()
    for parts, most in ((("both", folded, address), PAIR), (("address", address), ADDRESS), (("name", folded), NAME)):
        yield hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest(), most
