"""The time of a page of the history with a million entries: `python -m tests.bench.timeline`."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from tempfile import TemporaryDirectory
from typing import Any

from tests import databases
from tests.bench.verdicts import Line, Promise, table

ENTRIES, MODELS, PEOPLE = 1_000_000, 200, 40
BATCH, DOUBLINGS = 12_500, 4  # most are copies of what was made: so many share one moment
MOST_MS = 50
KINDS = {"override": 40, "detection": 30, "refusal": 20, "review": 7, "proposal": 2, "withdrawal": 1}
SOURCES = {"user_confirmed": 50, "auto_detected": 30, "declared": 19, "runtime_error": 1}
VERDICTS = {"": 50, "native": 25, "ignored": 15, "refused": 9, "misconfigured": 1}


def main() -> list[Line]:
    """The lines of the table: SQLite always, PostgreSQL where an address is given."""
    found = _measured("SQLite", {})
    if not databases.POSTGRESQL:
        return found
    with databases.database() as url:
        return found + _measured("PostgreSQL", {"DATABASE_URL": url})


def _measured(name: str, environment: dict[str, str]) -> list[Line]:
    """In a process of its own: the settings of this one are made already."""
    with TemporaryDirectory(prefix="toolsupport-bench-") as directory:
        given = os.environ | {
            "TOOLSUPPORT_DATA_DIR": directory,
            "DJANGO_SETTINGS_MODULE": "toolsupport.config.settings",
        }
        command = [sys.executable, "-m", "tests.bench.timeline", "inside"]
        done = subprocess.run(command, env=given | environment, check=True, stdout=subprocess.PIPE, text=True)
    seen = json.loads(done.stdout.splitlines()[-1])
    return [Line(f"history, {name}", Promise(f"{what}, ms", MOST_MS), spent) for what, spent in seen.items()]


def inside() -> dict[str, float]:
    """Make the table, then measure: the slowest page of every kind, each as the median of five."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    fill()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    return {"the slowest page of any one filter": slowest(one_filter()), "of two filters": slowest(two_filters())} | {
        "the whole page, of the processor": median_ms(whole_page(), time.process_time),
        "counting what is unread": median_ms(unread()),
    }


def fill() -> None:
    from datetime import timedelta

    from django.contrib.auth.models import User
    from django.utils import timezone

    from toolsupport.models import HistoryEntry, ModelProfile, Server
    from toolsupport.registry.knowledge import event_log

    chance = random.Random(1)
    servers = [Server.objects.create(name=f"server{n}", kind="ollama", base_url=f"http://h{n}/") for n in range(10)]
    profiles = [ModelProfile.objects.create(server=servers[n % 10], name=f"model{n}") for n in range(MODELS)]
    people = [User.objects.create(username=f"person{n}", is_superuser=n == 0) for n in range(PEOPLE)]
    begin = timezone.now() - timedelta(days=700)

    facet_of = cache(event_log.facet)

    def entry(number: int) -> Any:
        # Few models and few people do most.
        profile = profiles[min(int(chance.expovariate(4 / MODELS)), MODELS - 1)]
        facet = _one_of(chance, KINDS), _one_of(chance, SOURCES), _one_of(chance, VERDICTS)
        actor = people[min(int(chance.expovariate(6 / PEOPLE)), PEOPLE - 1)]
        return HistoryEntry(
            at=begin + timedelta(minutes=number * 16),
            facet_id=facet_of(*facet),
            kind=facet[0],
            server_id=profile.server_id,
            profile=profile,
            capability="tools",
            after=True,
            source=facet[1],
            verdict=facet[2],
            actor=actor,
            text="What was found out, and why.",
        )

    for first in range(0, ENTRIES >> DOUBLINGS, BATCH):
        HistoryEntry.objects.bulk_create([entry(number) for number in range(first, first + BATCH)], batch_size=500)
    double()


def double() -> None:
    """Copy every entry, again and again."""
    from django.db import connection

    from toolsupport.models import HistoryEntry

    columns = [field.column for field in HistoryEntry._meta.local_concrete_fields if not field.primary_key]
    names, stored = ", ".join(str(column) for column in columns), HistoryEntry._meta.db_table
    with connection.cursor() as cursor:
        for _ in range(DOUBLINGS):
            cursor.execute(f"INSERT INTO {stored} ({names}) SELECT {names} FROM {stored}")


def _one_of(chance: random.Random, weights: dict[str, int]) -> str:
    return chance.choices(list(weights), list(weights.values()))[0]


def _singles() -> list[dict[str, Any]]:
    from django.contrib.auth.models import User

    from toolsupport.models import ModelProfile, Server

    profiles = list(ModelProfile.objects.order_by("pk").values_list("pk", flat=True))
    people = list(User.objects.order_by("pk").values_list("pk", flat=True))
    found: list[dict[str, Any]] = [{"profile": profiles[0]}, {"profile": profiles[-5]}]
    found += [{"server": Server.objects.values_list("pk", flat=True)[0]}]
    found += [{"actor": people[0]}, {"actor": people[-1]}]
    for name, weights in (("kind", KINDS), ("source", SOURCES), ("verdict", VERDICTS)):
        found += [{name: value} for value in (*weights, "nothing") if value]
    return found


def _pages(given: dict[str, Any]) -> Iterator[Callable[[], Any]]:
    """The first page of a filter, one in the middle, the last."""
    from datetime import timedelta

    from toolsupport.models import HistoryEntry
    from toolsupport.registry.history import timeline
    from toolsupport.registry.history.timeline_query import TimelineCursor, TimelineFilter

    newest, oldest = HistoryEntry.objects.latest("at"), HistoryEntry.objects.earliest("at")
    middle = TimelineCursor(oldest.at + (newest.at - oldest.at) / 2, 10**9)
    for place in (None, middle, TimelineCursor(oldest.at + timedelta(days=2), 10**9)):
        yield lambda place=place: timeline.page(TimelineFilter(**given), place)  # type: ignore[misc]


def one_filter() -> Iterator[tuple[str, Callable[[], Any]]]:
    for given in ({}, *_singles()):
        for page in _pages(given):
            yield str(given), page


def two_filters() -> Iterator[tuple[str, Callable[[], Any]]]:
    singles = _singles()
    for number, one in enumerate(singles):
        for other in singles[number + 1 :]:
            if not set(one) & set(other):
                for page in _pages(one | other):
                    yield str(one | other), page


def slowest(pages: Iterator[tuple[str, Callable[[], Any]]]) -> float:
    spent = sorted(((median_ms(page), words) for words, page in pages), reverse=True)
    print(f"slowest: {spent[:3]}, with a load of {os.getloadavg()[0]:.0f}", file=sys.stderr, flush=True)
    return spent[0][0]


def whole_page() -> Callable[[], Any]:
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.test import Client

    settings.ALLOWED_HOSTS = ["testserver"]
    browser = Client()
    browser.force_login(User.objects.get(username="person0"))
    return lambda: browser.get("/history/?kind=override")


def unread() -> Callable[[], Any]:
    from django.contrib.auth.models import User

    from toolsupport.models import HistoryEntry
    from toolsupport.registry.history import read_marks

    person = User.objects.get(username="person0").pk
    newest = [*HistoryEntry.objects.order_by("-pk").values_list("pk", flat=True)[:100]]
    return lambda: read_marks.unread_among(person, newest)


def median_ms(run: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """The median of five."""
    spent = []
    for _ in range(5):
        begun = clock()
        run()
        spent.append((clock() - begun) * 1000)
    return sorted(spent)[2]


if __name__ == "__main__":
    if sys.argv[1:] == ["inside"]:
        print(json.dumps(inside()))
    else:
        print(table(main()))
