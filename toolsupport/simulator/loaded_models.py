"""Simulates which models are loaded, and how long each takes to load."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

CONTEXT = 4096


@dataclass(slots=True)
class LoadedModel:
    """One model in memory: usable from `ready` on, unloaded after `until`, both in seconds of the clock."""

    context: int
    ready: float
    until: float = math.inf


class ModelMemory:
    """Simulates the memory. A slow model takes `load_seconds` to load; another context size reloads it.

    `holds` limits the number of loaded models: one more unloads the least recently used one. With a limit every model
    takes `load_seconds` to load. `loads` counts how often a model was loaded.
    """

    def __init__(self, load_seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._load_seconds = load_seconds
        self._clock = clock
        self._loaded: dict[str, LoadedModel] = {}
        self.holds = 0
        self.loads = 0

    def load(self, name: str, context: int, slow: bool) -> float:
        """Start loading if needed; return the seconds until the model is ready."""
        now = self._clock()
        there = self._loaded.get(name)
        if there is None or there.until <= now or there.context != context:
            self._loaded.pop(name, None)
            while self.holds and len(self._loaded) >= self.holds:
                del self._loaded[next(iter(self._loaded))]
            there = LoadedModel(context, now + (self._load_seconds if slow or self.holds else 0.0))
            self.loads += 1
        else:
            del self._loaded[name]
        self._loaded[name] = there  # the order is the order of use
        there.until = math.inf
        return max(0.0, there.ready - now)

    def keep(self, name: str, seconds: float) -> None:
        """Keep a model loaded for this long after its use."""
        if name in self._loaded:
            self._loaded[name].until = self._clock() + seconds

    def unload(self, name: str) -> None:
        self._loaded.pop(name, None)

    def present(self) -> dict[str, tuple[int, float]]:
        """Return the context size and the remaining seconds of each model that is ready."""
        now = self._clock()
        ready = {name: there for name, there in self._loaded.items() if there.ready <= now < there.until}
        return {name: (there.context, there.until - now) for name, there in ready.items()}
