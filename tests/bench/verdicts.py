"""Promises beside measurements: as a table, as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

PICTURE = Path(__file__).resolve().parent.parent.parent / "docs" / "performance" / "figures.svg"
ROW, LEFT, WIDTH = 26, 380, 360  # pixels: a line, where bars begin, how long the promise is
LONGEST = 1.5  # times the promise; a bar beyond it is cut


@dataclass(frozen=True)
class Promise:
    """A figure that must be reached: at least `least`, or at most `most`."""

    figure: str
    most: float = float("inf")
    least: float = 0.0

    def words(self) -> str:
        return f"≥ {self.least:,g}" if self.least else f"≤ {self.most:,g}"

    def kept(self, seen: float) -> bool:
        return self.least <= seen <= self.most

    def share(self, seen: float) -> float:
        """How much of what is allowed was used: 1 is just kept, more is missed."""
        if self.least:
            return self.least / seen if seen > 0 else LONGEST
        return max(0.0, seen) / self.most if self.most else min(LONGEST, seen)


@dataclass(frozen=True)
class Line:
    """One figure of one scenario."""

    scenario: str
    promise: Promise
    seen: float

    def cells(self) -> tuple[str, str, str, str]:
        digits = 0 if self.seen >= 100 or not self.seen else 2 if self.seen >= 1 else 3
        measured = f"{self.seen:,.{digits}f}"
        kept = "yes" if self.promise.kept(self.seen) else "NO"
        return f"{self.scenario}: {self.promise.figure}", self.promise.words(), measured, kept


def judge(scenario: str, promises: Sequence[Promise], seen: Mapping[str, float]) -> list[Line]:
    """A line for each promise about a scenario."""
    return [Line(scenario, promise, seen[promise.figure]) for promise in promises]


def table(lines: Sequence[Line]) -> str:
    """All lines as a table that can stand in a document."""
    rows = [("figure", "promised", "measured", "kept"), *(line.cells() for line in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    padded = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]
    shown = [f"| {' | '.join(row)} |" for row in padded]
    shown.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(shown)


def picture(lines: Sequence[Line]) -> str:
    """A bar for each line, as long as what was used of what is promised; the upright line is the promise itself."""
    height = (len(lines) + 1) * ROW
    bars = "".join(_bar(place, line) for place, line in enumerate(lines))
    mark = f'<path class="promise" d="M{LEFT + WIDTH} 0V{height}"/>'
    style = (
        "svg{font:13px system-ui,sans-serif;color-scheme:light dark}text{fill:light-dark(#222,#ddd)}"
        ".kept{fill:#3a8a5f}.missed{fill:#c4553b}.promise{stroke:light-dark(#222,#ddd);stroke-dasharray:4 3}"
    )
    size = f'viewBox="0 0 {LEFT + round(WIDTH * LONGEST) + 130} {height}"'
    title = "<title>What is used of what is promised</title>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{title}<style>{style}</style>{bars}{mark}</svg>\n'


def _bar(place: int, line: Line) -> str:
    name, promised, measured, kept = line.cells()
    length, top = round(WIDTH * min(LONGEST, line.promise.share(line.seen))), place * ROW
    state = "kept" if kept == "yes" else "missed"
    return (
        f'<text x="{LEFT - 8}" y="{top + 18}" text-anchor="end">{escape(name)}</text>'
        f'<rect class="{state}" x="{LEFT}" y="{top + 5}" width="{max(1, length)}" height="{ROW - 8}"/>'
        f'<text x="{LEFT + max(length, 4) + 8}" y="{top + 18}">{measured} ({escape(promised)}) {state}</text>'
    )
