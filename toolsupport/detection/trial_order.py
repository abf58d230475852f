"""The order of streamed trials and those that are not."""

from __future__ import annotations

import random
from collections.abc import Iterator


def streamed_or_not(chance: random.Random) -> Iterator[bool]:
    """Blocks of four, two streamed and two not: a model that fails every second time fails once of each two.

    Which begins is drawn for each block, so that a longer period does not fit for long either.
    """
    while True:
        first = chance.random() < 0.5
        yield from (first, not first, not first, first)
