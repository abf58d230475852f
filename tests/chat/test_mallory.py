"""Runs Mallory for a second: the worst texts get answers or typed errors, and Bob loses nothing of his stream."""

from __future__ import annotations

from pytest import MonkeyPatch

from tests.nightly import mallory


# S2
def test_worst_texts_are_refused_and_nothing_is_lost_beside_them(monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(mallory, "TOKENS", 30)
    _, found = mallory.run(1, sockets=3)
    assert found.lost == 0 and found.streams >= 1 and found.pings and found.loads
    assert found.faults == {} and any(name.startswith("/v1") for name in found.answers)
