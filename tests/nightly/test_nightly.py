"""The long runs, held to the figures that docs/safety.md gives."""

from __future__ import annotations

import asyncio
import os
from statistics import median

import pytest

from chat.tools.sandbox import usage
from chat.tools.sandbox.shell_process import LIMITS
from tests.nightly import (
    costly_texts,
    ends,
    full_disk,
    half_requests,
    hostile_frames,
    hostile_texts,
    kills,
    mallory,
    poison,
    poison_carried,
    quirks,
    sandbox,
    sockets,
    sql_names,
    stops,
    two_tabs,
)
from toolsupport.simulator.models import MODELS

CHATTING = tuple(name for name, model in MODELS.items() if model.chats)
RUNS = int(os.environ.get("TOOLSUPPORT_NIGHTLY_RUNS", "1000"))


# SAFETY 4
@pytest.mark.nightly
def test_ten_thousand_hostile_frames() -> None:
    codes, log = hostile_frames.run(10_000, seed=1)
    assert codes["bad_frame"] > 1000 and "internal" not in codes and not log


# SAFETY 4
@pytest.mark.nightly
def test_a_hundred_kills() -> None:
    expect_the_figures(kills.run(100, sites=4, seed=1))


def expect_the_figures(found: list[kills.Kill]) -> None:
    assert not [odd for kill in found for odd in kill.odd]
    assert sum(kill.answers for kill in found) > len(found), "most kills met no answer"
    # Half a second by design; the rest is for a busy machine and a slow disk.
    assert max(kill.lost_text for kill in found) < 1.5
    assert max(kill.settled for kill in found) < 6


# SAFETY 4
@pytest.mark.nightly
def test_two_tabs_of_fifty_steps_lose_nothing() -> None:
    assert two_tabs.run(RUNS, steps=50)["runs"] >= RUNS


# SAFETY 4, C5
@pytest.mark.nightly
def test_two_hundred_stops() -> None:
    found = stops.run(200, seed=1)
    assert len(found) == 200 and max(max(stop.closed, stop.told) for stop in found) <= 1


# S3
@pytest.mark.nightly
def test_ten_sites_with_every_kind_of_work_end() -> None:
    stops, found = ends.run(10)
    assert max(stops.values()) <= 2
    assert not [end for end in found if end.code or end.left or end.seconds > ends.DRAIN + 5]


# S6
@pytest.mark.nightly
def test_a_disk_that_is_full_for_a_minute_costs_no_text() -> None:
    found = full_disk.run(60)
    assert found.kept == found.shown and found.status == "stopped"
    assert found.told <= 2 and found.saved <= 3


# D6, SAFETY 4
@pytest.mark.nightly
def test_every_simulated_model_gets_its_true_verdict_twenty_times() -> None:
    assert [one for one in asyncio.run(quirks.run(range(20), CHATTING)) if not one.true] == []


# O7: the limit of 50 holds, and somebody else is answered as ever.
@pytest.mark.nightly
def test_five_hundred_pages_of_one_person() -> None:
    found = sockets.run(500)
    assert found.received == {"hello": 50, "busy": 450}
    assert found.beside < 10


# S7: whoever keeps connections open, Bob signs in, loads pages and gets answers.
@pytest.mark.nightly
def test_a_thousand_half_requests_do_not_deny_the_site() -> None:
    alone, beside = half_requests.run(60, files=1024)
    assert alone.failed == beside.failed == [] and beside.rounds >= 2
    assert max(beside.worst.values()) < 10 + 2 * max(alone.worst.values())
    assert beside.files < 1024 and beside.memory < alone.memory + 200


# SAFETY 3.8: limits that are looked at may be exceeded for a moment, never for long, and nothing is left over.
@pytest.mark.nightly
def test_attacks_on_the_sandbox_end_and_leave_nothing() -> None:
    shared, kernel = sandbox.shared_objects(), usage.kernel_memory()
    found = sandbox.run(20)
    assert not [one for one in found if one.left] and sandbox.shared_objects() == shared
    assert usage.kernel_memory() - kernel < LIMITS.kernel
    assert max(one.kernel for one in found) < 4 * LIMITS.kernel
    assert max(one.seconds for one in found) < sandbox.SECONDS + 6
    assert max(one.memory for one in found) < 2 * LIMITS.memory
    assert max(sandbox.stop(200)) < 2


# SPEC S4: nor do texts that carry it, on other branches, after kills and by other models.
@pytest.mark.nightly
def test_two_hundred_carried_texts_lead_to_nothing() -> None:
    found = poison_carried.run(200)
    assert found.acted == [] and found.results.total() == 200
    assert found.asked > 150, "the model did not do what it was told to"


# SAFETY 4: whatever a model reads, nothing of level A2 or above runs without a person.
@pytest.mark.nightly
def test_two_hundred_poisoned_results_lead_to_nothing() -> None:
    found = poison.run(200)
    assert found.acted == [] and found.results.total() == 200
    assert found.asked > 350, "the model did not do what it was told to"


# S1, S2
@pytest.mark.nightly
def test_costly_texts_hold_up_nobody_else() -> None:
    found = {one.name: one for one in costly_texts.run()}
    quiet = found.pop("a plain sentence")
    for one in found.values():
        assert one.reloaded != "plain at first", one.name
        assert max(one.pings) < max(0.25, 3 * max(quiet.pings)), one.name


# S1: nothing that others wrote costs more than its budget.
@pytest.mark.nightly
def test_the_worst_texts_of_every_entry_point() -> None:
    found = hostile_texts.run()
    assert [worst for worst in found if worst.seconds > worst.budget] == [] and len(found) > 50


# S2: while one person does the worst, another one's ping stays short and streams go on.
@pytest.mark.nightly
def test_mallory_beside_bob() -> None:
    alone, found = mallory.run(60)
    assert found.lost == 0 and found.streams >= 1 and found.faults == {}
    # On the machine of docs/safety.md a page that is loaded alone takes 38 ms.
    slower = max(1.0, median(alone.loads) / 0.038)
    assert max(found.pings) <= 0.25 * slower


# T10: what PostgreSQL reads as a call is seen as one.
@pytest.mark.nightly
def test_no_spelling_hides_a_call() -> None:
    ran, missed = sql_names.run(100_000)
    assert ran > 1000 and missed == []
