"""Measures what constrained replies gain on one model: the same tasks, free and constrained."""

from __future__ import annotations

import statistics
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from toolsupport import exchange
from toolsupport.core import force_tasks
from toolsupport.core.events import CallGarbled, CallReady, CallRejected, Event, Failed, TextDelta, Usage
from toolsupport.core.force_tasks import TASKS, TOOLS, ForceTask
from toolsupport.core.formats import forced_json
from toolsupport.core.types import JSON, ChatMessage, Permit, RequestSpec, Role
from toolsupport.registry.models.request_context import RequestContext

FREE, FORCED = "free", "constrained"
TEXT_FORMAT = "hermes"  # for a model without native tools that has no format yet
LONGEST = 1024  # tokens of a reply


@dataclass(frozen=True, slots=True)
class ForceOutcome:
    """One task: whether its reply could be read and fitted, whether it was right, and what it cost."""

    way: str
    question: str
    fits: bool
    right: bool
    seconds: float
    tokens: int | None = None
    error: str = ""


def ways(prepared: RequestContext) -> dict[str, RequestSpec]:
    """Return the request of each way: as this model is asked now, and constrained to a schema."""
    spec = replace(prepared.request_spec, tools=TOOLS, permit=Permit.PROBE, system="")
    spec = replace(spec, options={**spec.options, "temperature": 0.0, "num_predict": LONGEST})
    native = spec.capabilities["tools"].value is True
    now = spec.format if spec.format not in ("", forced_json.NAME) else ("native" if native else TEXT_FORMAT)
    return {FREE: replace(spec, format=now), FORCED: replace(spec, format=forced_json.NAME)}


async def measured(prepared: RequestContext, rounds: int) -> AsyncIterator[ForceOutcome]:
    """Yield the outcome of each task in both ways, one after the other. Yields errors as outcomes, too."""
    specs = ways(prepared)
    for number in range(rounds):
        for task in TASKS:
            for way, spec in specs.items():
                seeded = replace(spec, options={**spec.options, "seed": number})
                yield await _one(prepared, way, seeded, task)


async def _one(prepared: RequestContext, way: str, spec: RequestSpec, task: ForceTask) -> ForceOutcome:
    began, events = time.monotonic(), list[Event]()
    answer = exchange.ask(prepared.endpoint, spec, [ChatMessage(Role.USER, task.question)])
    async with aclosing(answer) as batches:
        async for batch in batches:
            events += batch
    seconds = time.monotonic() - began
    failed = next((event for event in events if isinstance(event, Failed)), None)
    unread = any(isinstance(event, CallRejected | CallGarbled) for event in events)
    made = [(event.call.name, event.call.arguments) for event in events if isinstance(event, CallReady)]
    said = any(isinstance(event, TextDelta) and event.text.strip() for event in events)
    tokens = next((event.output_tokens for event in events if isinstance(event, Usage)), None)
    fits = failed is None and not unread and bool(made or said)
    right = fits and force_tasks.is_right(task, made)
    return ForceOutcome(way, task.question, fits, right, seconds, tokens, failed.message if failed else "")


def figures(outcomes: Sequence[ForceOutcome]) -> JSON:
    """Return the figures of each way: counts of tasks, and medians of seconds and tokens."""
    return {way: _figures([one for one in outcomes if one.way == way]) for way in (FREE, FORCED)}


def _figures(outcomes: Sequence[ForceOutcome]) -> JSON:
    calls = [one for one in outcomes if _needs_call(one)]
    plain = [one for one in outcomes if not _needs_call(one)]
    written = [one.tokens for one in outcomes if one.tokens is not None]
    return {
        "tasks": len(outcomes),
        "readable": sum(one.fits for one in outcomes),
        "calls_wanted": len(calls),
        "calls_right": sum(one.right for one in calls),
        "answers_wanted": len(plain),
        "answers_without_call": sum(one.right for one in plain),
        "errors": sum(bool(one.error) for one in outcomes),
        "median_seconds": round(statistics.median(one.seconds for one in outcomes), 2) if outcomes else None,
        "median_tokens": statistics.median(written) if written else None,
    }


def _needs_call(outcome: ForceOutcome) -> bool:
    return any(task.tool for task in TASKS if task.question == outcome.question)


ROWS = (
    ("Readable replies", "readable", "tasks"),
    ("Right calls", "calls_right", "calls_wanted"),
    ("Answers without a call", "answers_without_call", "answers_wanted"),
    ("Errors", "errors", "tasks"),
)


def table(found: JSON, formats: dict[str, str]) -> Iterator[str]:
    """Yield the lines of a plain table of two columns."""
    rows: list[tuple[str, Any, Any]] = [("", "free", "constrained"), ("Format", formats[FREE], formats[FORCED])]
    for title, count, whole in ROWS:
        cells = [f"{found[way][count]} of {found[way][whole]}" for way in (FREE, FORCED)]
        rows.append((title, cells[0], cells[1]))
    for title, key in (("Seconds (median)", "median_seconds"), ("Tokens written (median)", "median_tokens")):
        cells = ["unknown" if found[way][key] is None else f"{found[way][key]:g}" for way in (FREE, FORCED)]
        rows.append((title, cells[0], cells[1]))
    return (f"{title:<26}{free:<18}{forced}".rstrip() for title, free, forced in rows)
