"""Sums up how often a request of a model leads to a call with an error, before and after repair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from toolsupport.registry.metrics.insights import MetricPoint

# The outcome of a repaired call, and those of errors that remain.
MENDED, LEFT = ("repaired",), ("rejected", "unknown", "schema")


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """The requests of a model, or of a server (`profile` 0), that led to calls, by the worst outcome of a call."""

    name: str
    profile: int = 0
    requests: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return self.requests.total()

    @property
    def before(self) -> float:
        """The share with an error as the model wrote it, in percent."""
        return self._share((*MENDED, *LEFT))

    @property
    def after(self) -> float:
        """The share with an error after repairs, in percent."""
        return self._share(LEFT)

    @property
    def unreadable(self) -> int:
        return self.requests["rejected"]

    @property
    def unknown(self) -> int:
        return self.requests["unknown"]

    @property
    def misfit(self) -> int:
        return self.requests["schema"]

    def _share(self, outcomes: Iterable[str]) -> float:
        return round(100 * sum(self.requests[name] for name in outcomes) / self.total, 1) if self.total else 0.0


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """The rates by model and by server, the worst first, and by day: the lines of a plot (`before`, `after`)."""

    models: tuple[ErrorRate, ...]
    servers: tuple[ErrorRate, ...]
    lines: tuple[str, str]

    @property
    def total(self) -> int:
        return sum(rate.total for rate in self.servers)

    @property
    def groups(self) -> tuple[tuple[ErrorRate, ...], ...]:
        return self.models, self.servers


def rates(points: Sequence[MetricPoint], by_day: Iterable[MetricPoint]) -> ErrorRates:
    """Sum up the points of models, and those of days, oldest first."""
    models = _grouped(points, lambda point: (point.model, point.profile))
    servers = _grouped(points, lambda point: (point.model.partition("/")[0], 0))
    days = _grouped(by_day, lambda point: (point.day.isoformat(), 0))
    lines = (_line([day.before for day in days]), _line([day.after for day in days]))
    return ErrorRates(_worst_first(models), _worst_first(servers), lines)


def _grouped(points: Iterable[MetricPoint], key_of: Callable[[MetricPoint], tuple[str, int]]) -> list[ErrorRate]:
    found: dict[tuple[str, int], ErrorRate] = {}
    for point in points:
        if point.requests.total():
            key = key_of(point)
            found.setdefault(key, ErrorRate(*key)).requests.update(point.requests)
    return [*found.values()]


def _worst_first(found: list[ErrorRate]) -> tuple[ErrorRate, ...]:
    return tuple(sorted(found, key=lambda rate: (-rate.after, -rate.before, rate.name)))


def _line(shares: list[float]) -> str:
    """Return the path of a line in a square of 100, "" for fewer than two days."""
    step = 100 / (len(shares) - 1) if len(shares) > 1 else 0
    return "M" + "L".join(f"{at * step:.1f} {100 - share:.1f}" for at, share in enumerate(shares)) if step else ""
