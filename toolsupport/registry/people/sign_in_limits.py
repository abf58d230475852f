"""Limits guesses of passwords and tokens, counted in rows, so that all processes share the counts.

The order of the limits keeps one client from locking out others. A browser in which the account was signed in before
(a known device) has a limit of its own and no other. For everyone else the pair of name and address counts first, then
the address, then the name; an attempt that one limit refuses does not count for the next. So an address adds no more
to a name than its own limit, and what it adds never reaches a known device.
"""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from toolsupport.core import client_address
from toolsupport.core.errors import Busy
from toolsupport.models import SignInTally
from toolsupport.registry import raw_sql

WINDOW, DAY = timedelta(minutes=5), timedelta(days=1)
# Attempts in a window, and in a day. One name from one address is a forgotten password, or guessing; one address with
# many names is a list being tried; one name from many addresses is guessing by a group of machines.
PAIR, ADDRESS, NAME = 8, 60, 60
PAIR_DAY, ADDRESS_DAY, NAME_DAY = 40, 600, 400
BEGUN = 600  # sign-ins through a provider that one address begins in a window: each asks the provider
CODE_OF = "code of\0"  # prefix of a name: a name from a form never has a NUL
ELSEWHERE = " A browser in which you signed in before still works."

COUNT = """INSERT INTO toolsupport_signintally AS tally ("key", tries, until) VALUES (%s, 1, %s)
ON CONFLICT ("key") DO UPDATE SET tries = CASE WHEN tally.until <= %s THEN 1 ELSE tally.tries + 1 END,
until = CASE WHEN tally.until <= %s THEN excluded.until ELSE tally.until END RETURNING tries"""


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """At most `most` attempts with this key in a window."""

    key: str
    most: int
    window: timedelta


def attempt(name: str, address: str, device: str = "") -> None:
    """Count a sign-in before the password is checked; `device` identifies a known device of the account.

    Raises Busy with a message for people after too many.
    """
    _demand(_sign_in(name, address, device), "" if device else ELSEWHERE)


def succeeded(name: str, address: str, device: str = "") -> None:
    """Reset the counts after a successful sign-in: the attempts of the pair, or of the device, start from zero."""
    first, others = _split(_sign_in(name, address, device))
    SignInTally.objects.filter(key__in=first).delete()
    SignInTally.objects.filter(key__in=others, tries__gt=0).update(tries=F("tries") - 1)


def attempt_code(name: str, address: str, device: str = "") -> None:
    """Count a code of the second factor like a password, but apart from it: a right password resets nothing here."""
    attempt(CODE_OF + name, address, device)


def code_succeeded(name: str, address: str, device: str = "") -> None:
    """Reset the count after a sign-in with a right code."""
    succeeded(CODE_OF + name, address, device)


def attempt_change(person_id: int) -> None:
    """Count a change of a password, which needs the old one, for this person alone. Raises Busy after too many."""
    _demand(_limits("change", str(person_id), most=(PAIR, PAIR_DAY)))


def change_succeeded(person_id: int) -> None:
    """Reset the count after a change."""
    keys = [limit.key for limit in _limits("change", str(person_id), most=(PAIR, PAIR_DAY))]
    SignInTally.objects.filter(key__in=keys).delete()


def wrong_token(kind: str, address: str) -> int:
    """Count a wrong token (an API key, a link) of this address; return the seconds to wait after too many, else 0.

    Right tokens are not limited: they are too long to be guessed, and an address may be shared.
    """
    limits = tuple(_limits("token", kind, client_address.network(address), most=(ADDRESS,)))
    return _wait(limits) or _count(limits)


def begin_elsewhere(address: str) -> None:
    """Count a sign-in that this address begins at the provider. Raises Busy after too many."""
    _demand(_limits("begun", client_address.network(address), most=(BEGUN,)))


def once(kind: str, token: str, window: timedelta) -> bool:
    """Return whether this token is used for the first time within its window, in all processes."""
    key = hashlib.sha256("\0".join(("once", kind, token)).encode(errors="replace")).hexdigest()
    return not _count((AttemptLimit(key, 1, window),))


def clear_expired() -> None:
    """Delete counts whose window is over."""
    SignInTally.objects.filter(until__lte=timezone.now()).delete()


def _demand(limits: Iterator[AttemptLimit], hint: str = "") -> None:
    found = tuple(limits)
    seconds = _wait(found) or _count(found)
    if seconds:
        raise Busy(f"Too many attempts. Try again in {_spoken(seconds)}.{hint}", "sign_in")


def _wait(limits: Sequence[AttemptLimit]) -> int:
    """Return the seconds until the first limit that is used up is free again; refused attempts write nothing."""
    now = timezone.now()
    rows = SignInTally.objects.filter(key__in=[limit.key for limit in limits], until__gt=now)
    used = {row.key: row for row in rows}
    over = (used[limit.key] for limit in limits if limit.key in used and used[limit.key].tries >= limit.most)
    return max((math.ceil((row.until - now).total_seconds()) for row in over), default=0)


def _count(limits: Sequence[AttemptLimit]) -> int:
    """Count in the order of the limits; return the seconds to wait if others used the last attempt up meanwhile."""
    now = timezone.now()
    with transaction.atomic():
        for limit in limits:
            ((tries,),) = raw_sql.rows(COUNT, limit.key, now + limit.window, now, now)
            if tries > limit.most:
                return int(limit.window.total_seconds())
    return 0


def _sign_in(name: str, address: str, device: str) -> Iterator[AttemptLimit]:
    folded, network = _folded(name), client_address.network(address)
    if device:
        yield from _limits("device", folded, device, most=(PAIR, PAIR_DAY))
        return
    yield from _limits("both", folded, network, most=(PAIR, PAIR_DAY))
    yield from _limits("address", network, most=(ADDRESS, ADDRESS_DAY))
    yield from _limits("name", folded, most=(NAME, NAME_DAY))


def _split(limits: Iterator[AttemptLimit]) -> tuple[list[str], list[str]]:
    """Return the keys of the pair or the device, which come first, one for each window; and the others."""
    keys = [limit.key for limit in limits]
    return keys[:2], keys[2:]


def _limits(*parts: str, most: Sequence[int]) -> Iterator[AttemptLimit]:
    """Return the limits for each window, by digests: a typed name may be a password in the wrong field."""
    for number, window in zip(most, (WINDOW, DAY), strict=False):
        text = "\0".join((*parts, str(int(window.total_seconds()))))
        yield AttemptLimit(hashlib.sha256(text.encode(errors="replace")).hexdigest(), number, window)


def _folded(name: str) -> str:
    """Return one spelling of all that lead to the same account: the form normalises a name by NFKC."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip()


def _spoken(seconds: int) -> str:
    minutes = math.ceil(seconds / 60)
    number, unit = (minutes, "minute") if minutes < 90 else (math.ceil(minutes / 60), "hour")
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
