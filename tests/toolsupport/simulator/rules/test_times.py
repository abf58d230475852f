"""Whose time is asked for."""

from __future__ import annotations

from zoneinfo import ZoneInfo, available_timezones

import pytest

from toolsupport.simulator.rules.answers import with_result
from toolsupport.simulator.rules.intents import IntentKind, understand
from toolsupport.simulator.rules.times import CITIES


def test_every_zone_of_the_table_exists() -> None:
    assert {ZoneInfo(zone).key for zone in CITIES.values()} <= available_timezones()


@pytest.mark.parametrize(
    ("words", "zone"),
    [
        ("What time is it in Tokyo?", "Asia/Tokyo"),
        ("what's the current time in New York", "America/New_York"),
        ("Tell me the time in Sao Paulo", "America/Sao_Paulo"),
        ("What time is it now in Asia/Seoul?", "Asia/Seoul"),
        ("What time is it?", "UTC"),
    ],
)
def test_the_time_of_a_place(words: str, zone: str) -> None:
    (intent,) = understand(words)
    assert (intent.kind, intent["zone"]) == (IntentKind.TIME, zone)


@pytest.mark.parametrize(
    "words",
    ["Convert 9:30 from London to Tokyo", "What time is it in Tokyo when it is 9:30 in London?"],
)
def test_a_moment_of_one_place_in_another(words: str) -> None:
    (intent,) = understand(words)
    assert intent.kind == IntentKind.CONVERT
    assert [intent[name] for name in ("zone_from", "clock", "zone_to")] == ["Europe/London", "09:30", "Asia/Tokyo"]


@pytest.mark.parametrize("words", ["A long time ago", "What is 3:4?", "Is it time for tea in Tokyo?", "Convert 9:30"])
def test_other_words_ask_for_no_time(words: str) -> None:
    assert not {intent.kind for intent in understand(words)} & {IntentKind.TIME, IntentKind.CONVERT}


def test_it_answers_from_the_result() -> None:
    (now,), (then,) = understand("What time is it in Tokyo?"), understand("Convert 9:30 from London to Tokyo")
    target = '{"timezone": "Asia/Tokyo", "datetime": "2026-11-22T18:30:00+09:00"}'
    assert with_result(now, target) == "It is **18:30** in Tokyo, on Sunday, 22 November 2026."
    both = f'{{"source": {{"datetime": "2026-11-22T09:30:00+00:00"}}, "target": {target}}}'
    assert with_result(then, both).startswith("At 09:30 in London it is **18:30** in Tokyo")
    assert "half past six" in with_result(now, "half past six")
