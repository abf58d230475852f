"""Orders streamed and unstreamed trials."""

from __future__ import annotations

import random
from collections.abc import Iterator


def streamed_or_not(chance: random.Random) -> Iterator[bool]:
    """Return blocks of four, two of each: a model that fails every second time fails once of each two.

    Of the first three two are streamed, as turns are. The first of each later block is random, so that a longer period
    does not match the order for long either.
    """
    first = False
    while True:
        yield from (first, not first, not first, first)
        first = chance.random() < 0.5
