"""Shares the requests that a server gets at once among tests, exams and comparisons, in all processes.

A running test of a model takes one slot, and so do steps of it that follow its verdict. A request of an exam or of a
comparison takes one as a lease: the row of an exam does not have the number of its open requests. Tests and comparisons
that find no slot leave a mark, and exams, which send one request after the other for minutes, leave the next free
slot to them.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from toolsupport import providers
from toolsupport.models import Detection, Lease, Server
from toolsupport.registry import leases

MOST = 4  # requests at once on one server
HELD = timedelta(seconds=30)  # renewed every few seconds; a slot of a process that was killed is free after that
MARKED = timedelta(seconds=3)  # a waiting worker checks again every second
PLACE, NEXT = "place on server", "next on server"


def limit(kind: str) -> int:
    """Return how many requests a server of this kind gets at once: one where it holds one model."""
    return 1 if providers.provider(kind).loads_on_demand else MOST


@transaction.atomic
def take(server: int, owner: str, first: bool = False) -> str:
    """Take a slot on a server (id) and return its name, "" if none is free; `first`: it goes before exams."""
    row = Server.objects.select_for_update().get(pk=server)
    taken = held(server)
    tests = Detection.objects.filter(status="running", profile__server_id=server).count()
    full = len(taken) + tests + later_steps(server) >= limit(row.kind)
    if full and first:
        mark(server)
    if full or (not first and _is_marked(server)):
        return ""
    name = next(one for one in (f"{PLACE} {server}: {n}" for n in range(MOST)) if one not in taken)
    Lease.objects.update_or_create(name=name, defaults={"owner": owner, "until": leases.in_future(HELD)})
    return name


def later_steps(server: int) -> int:
    """Return how many tests run steps on a server now that follow their verdicts."""
    return Detection.objects.filter(remaining=True, lease_until__gt=Now(), profile__server_id=server).count()


def held(server: int) -> set[str]:
    """Return the slots on a server that exams and comparisons have now."""
    rows = Lease.objects.filter(name__startswith=f"{PLACE} {server}: ", until__gt=Now())
    return set(rows.values_list("name", flat=True))


def mark(server: int) -> None:
    """Note that a test or a comparison waits for a slot."""
    Lease.objects.update_or_create(name=f"{NEXT} {server}", defaults={"owner": "", "until": leases.in_future(MARKED)})


def _is_marked(server: int) -> bool:
    return Lease.objects.filter(name=f"{NEXT} {server}", until__gt=Now()).exists()


def holder(process: str, what: str, row: int) -> str:
    """Return the owner of the slots of one row that a process works on."""
    return f"{process}/{what}/{row}/"


def renew(owner: str) -> None:
    """Renew the slots of an owner."""
    rows = Lease.objects.filter(owner=owner, name__startswith=PLACE, until__gt=Now())
    rows.update(until=leases.in_future(HELD))


def release(name: str, owner: str) -> None:
    """Free a slot."""
    leases.release(name, owner)


def leave(owner: str) -> None:
    """Free all slots of an owner, or of all rows of a process."""
    Lease.objects.filter(owner__startswith=owner, name__startswith=PLACE).update(until=Now())
