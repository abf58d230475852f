"""Measures the gain of constrained replies on one model: the same tasks, free and constrained."""

from __future__ import annotations

import random
import statistics
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

import jsonschema_rs
import orjson

from toolsupport import exchange, providers
from toolsupport.core import force_tasks
from toolsupport.core.events import FAILURES, Failed
from toolsupport.core.force_tasks import TASKS, TOOLS, ForceTask
from toolsupport.core.formats import forced_json
from toolsupport.core.reply_builder import ReplyBuilder
from toolsupport.core.reply_reader import ReplyReader
from toolsupport.core.side_findings import ODD as ODD_SHAPE
from toolsupport.core.types import JSON, ChatMessage, Permit, RequestSpec, Role
from toolsupport.detection import constrains
from toolsupport.detection.probe_reply import ProbeReply, is_malformed
from toolsupport.providers.exchange_recorder import ExchangeRecorder, RecordedExchange
from toolsupport.registry.models.request_context import RequestContext

FREE, FORCED = "free", "constrained"
TEXT_FORMAT = "hermes"  # for a model without native tools that has no format yet
LONGEST = 1024  # tokens of a reply
LARGEST = 4 * 1024 * 1024  # kept bytes of a reply, since a schema applies to all of it
SHOWN = 200  # characters of a reply that does not fit


@dataclass(frozen=True, slots=True)
class ForceOutcome:
    """One task: how its reply ended, whether it fits the schema of its request, and its calls.

    `fits` is None where no schema was sent. `accepted`: all its calls fit their tools. `written` is the beginning of a
    reply that does not fit.
    """

    way: str
    question: str
    ended: bool
    fits: bool | None
    called: bool
    accepted: bool
    right: bool
    seconds: float
    tokens: int | None = None
    error: str = ""
    written: str = ""


@dataclass(frozen=True, slots=True)
class ForceFit:
    """The text of a reply, and whether it fits the schema of its request."""

    fits: bool | None
    text: str


NOTHING = ForceFit(None, "")
# The treatment of a schema that few servers can read; the first one seen counts.
ODD = {
    "dropped": " But it drops a schema that it cannot read, and its model then writes anything.",
    "refused": "",
    "followed": "",
    "unknown": "",
}
ODD_TRIALS = 2


def ways(prepared: RequestContext) -> dict[str, RequestSpec]:
    """Return the request of each way: with the present settings of the model, and constrained to a schema."""
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


async def odd_schema(prepared: RequestContext, found: JSON) -> str:
    """Return the server's treatment of a schema that few can read, a key of ODD; "" if it keeps no schema anyway.

    The tasks have no such schema, so a server that drops it may keep all of theirs.
    """
    if not found["ended"] or found["fits"] != found["ended"]:
        return ""
    seen: set[str] = set()
    for number in range(ODD_TRIALS):
        asked = constrains.forbidden_constant(random.Random(f"{prepared.build} {number}"), ODD_SHAPE)
        spec = replace(ways(prepared)[FORCED], tools=(), format="", schema=asked.schema)
        reply = await _asked(prepared, spec, asked.messages, ExchangeRecorder())
        code, _ = constrains.judged(reply, asked)
        kept = "refused" if reply.failed else "followed"
        seen.add({"right": kept, "unenforced": "dropped"}.get(code, "unknown"))
    return next(value for value in ODD if value in seen)


async def _asked(
    prepared: RequestContext, spec: RequestSpec, messages: Sequence[ChatMessage], recorder: ExchangeRecorder
) -> ProbeReply:
    began, reply = time.monotonic(), ProbeReply(budget=LONGEST)
    async with aclosing(exchange.ask(prepared.endpoint, spec, messages, recorder)) as batches:
        async for batch in batches:
            for event in batch:
                reply.take(event)
    reply.seconds = time.monotonic() - began
    return reply


async def _one(prepared: RequestContext, way: str, spec: RequestSpec, task: ForceTask) -> ForceOutcome:
    recorder = ExchangeRecorder(LARGEST)
    reply = await _asked(prepared, spec, [ChatMessage(Role.USER, task.question)], recorder)
    sent = recorder.taken()
    return _judged(way, task, reply, _fit(prepared.endpoint.kind, sent[-1]) if sent else NOTHING)


def _judged(way: str, task: ForceTask, reply: ProbeReply, fit: ForceFit) -> ForceOutcome:
    """Return the outcome of a reply. An answer without words fits: a schema cannot demand any."""
    unread = reply.failed is not None and is_malformed(reply.failed)
    ended = unread or (reply.failed is None and not reply.cut)
    called = ended and bool(reply.calls or reply.rejected or unread)
    accepted = called and not (reply.rejected or unread)
    made = [(call.name, call.arguments) for call in reply.calls]
    usable = accepted or (ended and not called and bool(reply.text.strip()))
    return ForceOutcome(
        way,
        task.question,
        ended=ended,
        fits=fit.fits if fit.fits is None else ended and fit.fits,
        called=called,
        accepted=accepted,
        right=usable and force_tasks.is_right(task, made),
        seconds=reply.seconds,
        tokens=reply.usage.output_tokens,
        error=_error(reply.failed) if reply.failed and not unread else "",
        written=fit.text[:SHOWN] if ended and fit.fits is False else "",
    )


def _error(failed: Failed) -> str:
    """Return the kind of a failure, without the server's words, which may contain addresses."""
    return f"{failed.kind} ({failed.status})" if failed.status else failed.kind


def _fit(kind: str, recorded: RecordedExchange) -> ForceFit:
    """Compare the text of a reply, as the server sent it, with the schema that was sent."""
    text, schema = _text(kind, recorded), _schema(recorded)
    return ForceFit(None if schema is None else _is_valid(text, schema), text)


def _text(kind: str, recorded: RecordedExchange) -> str:
    """Return the text without reasoning, and with its calls as they were written."""
    codec, reply = providers.codec(kind), ReplyBuilder()
    for event in ReplyReader("", ()).feed([*codec.feed(recorded.head), *codec.flush()]):
        reply.take(event)
    return reply.text


def _schema(recorded: RecordedExchange) -> JSON | None:
    body = orjson.loads(recorded.body)
    named = (body.get("response_format") or {}).get("json_schema") or {}
    found: JSON | None = body.get("format") or named.get("schema")
    return found


def _is_valid(text: str, schema: JSON) -> bool:
    try:
        return jsonschema_rs.is_valid(schema, orjson.loads(text))
    except orjson.JSONDecodeError:
        return False


def figures(outcomes: Sequence[ForceOutcome]) -> JSON:
    """Return the figures of each way: counts of tasks, and medians of seconds and tokens."""
    return {way: _figures([one for one in outcomes if one.way == way]) for way in (FREE, FORCED)}


def _figures(outcomes: Sequence[ForceOutcome]) -> JSON:
    calls = [one for one in outcomes if _needs_call(one)]
    plain = [one for one in outcomes if not _needs_call(one)]
    written = [one.tokens for one in outcomes if one.tokens is not None]
    judged = [one.fits for one in outcomes if one.fits is not None]
    return {
        "tasks": len(outcomes),
        "ended": sum(one.ended for one in outcomes),
        "fits": sum(judged) if judged else None,
        "called": sum(one.called for one in outcomes),
        "accepted": sum(one.accepted for one in outcomes),
        "calls_wanted": len(calls),
        "calls_right": sum(one.right for one in calls),
        "answers_wanted": len(plain),
        "answers_without_call": sum(one.right for one in plain),
        "errors": dict(Counter(one.error for one in outcomes if one.error)),
        "median_seconds": round(statistics.median(one.seconds for one in outcomes), 2) if outcomes else None,
        "median_tokens": statistics.median(written) if written else None,
    }


def _needs_call(outcome: ForceOutcome) -> bool:
    return any(task.tool for task in TASKS if task.question == outcome.question)


REFUSES = "The server refuses each request with a schema, so no reply can be constrained."
# Title, what is counted, of which count.
ROWS = (
    ("Replies ended", "ended", "tasks"),
    ("Fit the schema", "fits", "ended"),
    ("Made a call", "called", "ended"),
    ("Calls accepted", "accepted", "called"),
    ("Right calls", "calls_right", "calls_wanted"),
    ("Answers without a call", "answers_without_call", "answers_wanted"),
)


def table(found: JSON, formats: dict[str, str]) -> Iterator[str]:
    """Yield the lines of a plain table of two columns, a line for each kind of error, and the conclusion."""
    rows: list[tuple[str, Any, Any]] = [("", FREE, FORCED), ("Format", formats[FREE], formats[FORCED])]
    for title, count, whole in ROWS:
        free, forced = (_cell(found[way][count], found[way][whole]) for way in (FREE, FORCED))
        rows.append((title, free, forced))
    for title, key in (("Seconds (median)", "median_seconds"), ("Tokens written (median)", "median_tokens")):
        cells = ["unknown" if found[way][key] is None else f"{found[way][key]:g}" for way in (FREE, FORCED)]
        rows.append((title, cells[0], cells[1]))
    rows.append(("A schema few can read", "–", found[FORCED].get("odd_schema") or "–"))
    yield from (f"{title:<26}{free:<18}{forced}".rstrip() for title, free, forced in rows)
    for way in (FREE, FORCED):
        for error, times in found[way]["errors"].items():
            yield f"{times} × {way}: {FAILURES[error.split()[0]]}"
    yield conclusion(found[FORCED])


def conclusion(constrained: JSON) -> str:
    """Return a sentence about what the constrained replies show about the server."""
    fits, ended, errors = constrained["fits"], constrained["ended"], constrained["errors"]
    if not ended:
        refused = errors and all(error.startswith("refused") for error in errors)
        return REFUSES if refused else "No constrained reply ended, so they show nothing about the schema."
    if fits == ended:
        return f"Each constrained reply that ended fits its schema.{ODD.get(constrained.get('odd_schema', ''), '')}"
    return f"{ended - fits} of {ended} constrained replies do not fit their schema: the server does not enforce it."


def _cell(count: int | None, whole: int) -> str:
    return "–" if count is None else f"{count} of {whole}"
