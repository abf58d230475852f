"""No call is lost or changed between a model and a program, in any format, through each of the three APIs."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.loss import gold
from tests.loss.measuring import Case, Gateway, Tally, gateway, measured
from tests.loss.programs import APIS
from tests.loss.upstream import EACH


def test_every_call_arrives(tmp_path: Path) -> None:  # G11
    """Letter by letter; `make loss` cuts at every position, and asks for more."""
    formats = (gold.NATIVE, *gold.TEXT)
    cases = [Case(format, 0, EACH, api) for format, api in zip(formats, itertools.cycle(APIS), strict=False)]

    async def arrived() -> dict[str, Tally]:
        async with gateway(tmp_path) as asked:
            return await measured(asked, cases)

    tallies = asyncio.run(arrived())
    assert [example for one in tallies.values() for example in one.examples] == []
    assert sum(one.again for one in tallies.values()) == 0 and tallies.keys() == set(formats)


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (lambda calls: calls, (0, 0, 0)),
        (lambda calls: calls[1:], (1, 0, 1)),
        (lambda calls: [*calls, calls[0]], (0, 1, 1)),
        (lambda calls: calls[::-1], (0, 0, 1)),
        (lambda calls: [(calls[0][0], {**calls[0][1], "extra": 1}), *calls[1:]], (1, 1, 1)),
    ],
)
def test_what_is_lost_or_changed_is_counted(
    monkeypatch: pytest.MonkeyPatch, change: Any, counts: tuple[int, int, int]
) -> None:
    seed = next(seed for seed in itertools.count() if len(gold.calls(seed, "hermes")) == 2)

    async def api(session: object, model: str, question: str) -> gold.Gold:
        return list(change(gold.calls(seed, "hermes")))

    monkeypatch.setitem(APIS, "chat completions", api)
    tally = Tally()
    asked = Gateway(SimpleNamespace(), SimpleNamespace())  # type: ignore[arg-type]
    asyncio.run(asked.ask(Case("hermes", seed, 1, "chat completions"), tally))
    assert (tally.lost, tally.added, len(tally.examples)) == counts
