"""Finds the model that answers in place of one that failed, for one answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from channels.db import database_sync_to_async as in_database
from django.conf import settings

from toolsupport.core import model_fallbacks
from toolsupport.core.events import Failed
from toolsupport.core.model_fallbacks import FallbackStep
from toolsupport.core.types import Endpoint
from toolsupport.registry.fallbacks import fallback_chain

LEAST = 1.0  # seconds


@dataclass(frozen=True, slots=True)
class NextModel:
    """The next step after a failure. `profile` None: nothing. `repeat`: the same model is asked once more.

    `skipped` names models that were passed over, with the reasons.
    """

    profile: int | None = None
    name: str = ""
    repeat: bool = False
    skipped: str = ""


class FallbackSearch:
    """The search of one answer. It reads rows only after a failure; `server` is that of the first model, if known."""

    def __init__(self, profile: int, server: int | None) -> None:
        self._first, self._now, self._servers = profile, profile, {profile: server}
        self._tried: set[int] = set()
        self._down: set[int] = set()
        self._clock = asyncio.get_running_loop().time
        self.begin()

    def begin(self) -> None:
        """Begin a request and start its time; a turn may have several."""
        self._ends = self._clock() + settings.ENV["TOOLSUPPORT_FALLBACK_SECONDS"]
        self._repeated: set[int] = set()

    async def after(self, failed: Failed) -> NextModel:
        """Return the next step after this failure, before any part of the answer was shown."""
        if not model_fallbacks.may_follow(failed) or self.left <= 0:
            return NextModel()
        server = self._servers.get(self._now)
        down = self._down | ({server} if failed.kind in model_fallbacks.OF_SERVER and server else set())
        steps = await in_database(fallback_chain.of)(self._first, self._tried | {self._now}, down)
        following = model_fallbacks.next_of(steps)
        if following is None:
            return NextModel(skipped=model_fallbacks.passed_over(steps))
        if failed.kind in model_fallbacks.ASKED_TWICE and self._now not in self._repeated:
            self._repeated.add(self._now)
            return NextModel(self._now, repeat=True)
        self._tried.add(self._now)
        self._down = set(down)
        return self._next(following, steps)

    def _next(self, following: FallbackStep, steps: Sequence[FallbackStep]) -> NextModel:
        self._now = following.profile
        self._servers[following.profile] = following.server
        return NextModel(following.profile, following.name, skipped=model_fallbacks.passed_over(steps))

    async def instead(self) -> NextModel:
        """Return the next step if the last returned model cannot be asked."""
        self._tried.add(self._now)
        steps = await in_database(fallback_chain.of)(self._first, self._tried, self._down)
        following = model_fallbacks.next_of(steps)
        return self._next(following, steps) if following else NextModel(skipped=model_fallbacks.passed_over(steps))

    @property
    def left(self) -> float:
        """The seconds that are left for all models together."""
        return float(self._ends - self._clock())

    def limited(self, endpoint: Endpoint) -> Endpoint:
        """Return the endpoint of a fallback model: its first token must come within the time that is left."""
        limits = endpoint.limits
        return replace(endpoint, limits=replace(limits, first_token=min(limits.first_token, max(self.left, LEAST))))
