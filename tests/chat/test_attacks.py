"""The short forms of the long runs in tests/nightly."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from chat.broadcast.error_codes import ERRORS
from tests.nightly import hostile_frames, kills, poison, two_tabs
from tests.nightly.test_nightly import expect_the_figures
from tests.serving import Site

TRIES = 8


@pytest.fixture(scope="module")
def site(own_site: Site) -> Site:
    """Its log is looked at for complaints."""
    return own_site


# SAFETY 1.2
def test_hostile_frames_get_typed_errors(site: Site, ana: httpx.Client) -> None:
    codes = asyncio.run(hostile_frames.torment(site, ana, 300, seed=0))
    assert codes["bad_frame"] > 50 and set(codes) <= ERRORS.keys() - {"internal"}
    assert not hostile_frames.complaints(site)


# SAFETY 2
def test_two_tabs_lose_nothing(site: Site, ana: httpx.Client) -> None:
    # Chance may choose acts among which no message is sent.
    for _ in range(TRIES):
        done = two_tabs.drive(site, ana, runs=3, steps=20)
        assert done["runs"] == 3
        if done["acknowledged"]:
            return
    raise AssertionError("no page sent a message")


# SAFETY 2
def test_kills_lose_nothing_acknowledged() -> None:
    expect_the_figures(kills.run(2, sites=1, seed=0))


# SAFETY 4: whatever a model reads, nothing of level A2 or above runs without a person.
def test_poisoned_results_lead_to_nothing() -> None:
    found = poison.run(len(poison.WAYS))
    assert found.acted == []
    assert found.asked > len(poison.WAYS), "the model did not do what it was told to"
