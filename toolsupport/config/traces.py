"""Records the parts of an answer as OpenTelemetry spans, and sends them to a collector; without one it does nothing.

A span has names of the site, numbers and codes, and never contents: no message, argument, result or words of an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from threading import Thread
from typing import Any

from toolsupport import __version__

# The attribute of each fact. Those of `gen_ai`, `http`, `server` and `error` are OpenTelemetry's conventions.
ATTRIBUTES = {
    "operation": "gen_ai.operation.name",
    "provider": "gen_ai.provider.name",
    "model": "gen_ai.request.model",
    "finish": "gen_ai.response.finish_reasons",
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "conversation": "gen_ai.conversation.id",
    "tool": "gen_ai.tool.name",
    "call": "gen_ai.tool.call.id",
    "host": "server.address",
    "port": "server.port",
    "error": "error.type",
    "method": "http.request.method",
    "route": "http.route",
    "status": "http.response.status_code",
    "request": "toolsupport.request",
    "turn": "toolsupport.turn",
    "round": "toolsupport.round",
    "outcome": "toolsupport.outcome",
}
INSTALL = "pip install 'toolsupport[traces]'"
PATH = "/v1/traces"
LONGEST_EXPORT = 5.0  # seconds
LONGEST_STOP = 1.0


class TraceSpan:
    """A span that is being recorded, or nothing."""

    def __init__(self, span: Any = None) -> None:
        self.span = span

    @property
    def records(self) -> bool:
        return self.span is not None

    def add(self, **facts: Any) -> None:
        """Add facts; those without a value are left out."""
        if self.span is not None:
            known = {name: value for name, value in facts.items() if value not in ("", None)}
            self.span.set_attributes({ATTRIBUTES[name]: value for name, value in known.items()})

    def rename(self, name: str) -> None:
        if self.span is not None:
            self.span.update_name(name)

    def fail(self, code: str) -> None:
        """Mark it as failed, with a code of ours."""
        if self.span is not None:
            self.add(error=code)
            self.span.set_status(_recorder.error if _recorder else None)

    def end(self) -> None:
        if self.span is not None:
            self.span.end()


NOTHING = TraceSpan()
# Spans of a task are part of this one.
_current: ContextVar[TraceSpan] = ContextVar("span", default=NOTHING)


class SpanRecorder:
    """The spans of this process. Raises ImportError where the packages of the extra `traces` are missing."""

    def __init__(self, collector: str) -> None:
        # Only a site with a collector loads these: they take 20 MiB.
        import requests
        from opentelemetry import trace
        from opentelemetry.context import Context
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._nothing, self._inside = Context, trace.set_span_in_context
        self._read = TraceContextTextMapPropagator().extract
        self.kinds = {kind.name.lower(): kind for kind in trace.SpanKind}
        self.error = trace.StatusCode.ERROR
        session = requests.Session()
        # The collector alone is asked: through no proxy of the environment, and at no other address.
        session.trust_env, session.max_redirects = False, 0
        exporter = OTLPSpanExporter(endpoint=address(collector), timeout=LONGEST_EXPORT, session=session)
        # A provider of our own: spans that libraries record with the common one may hold contents.
        resource = Resource.create({"service.name": "toolsupport", "service.version": __version__})
        self.provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self.provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self.provider.get_tracer("toolsupport", __version__)

    def begin(self, name: str, context: Any, kind: str) -> Any:
        return self._tracer.start_span(name, context, self.kinds[kind])

    def within(self, parent: TraceSpan) -> Any:
        """Return the context of a part. A request that has ended has no parts: tasks that it began live on."""
        alive = parent.records and parent.span.is_recording()
        return self._inside(parent.span, self._nothing()) if alive else self._nothing()

    def after(self, traceparent: str) -> Any:
        """Return the context that a program states, or an empty one."""
        return self._read({"traceparent": traceparent}, self._nothing())


_recorder: SpanRecorder | None = None


def installed() -> bool:
    """Return whether the packages of the extra `traces` are there."""
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http.trace_exporter") is not None
    except ModuleNotFoundError:
        return False


def address(collector: str) -> str:
    """Return where spans are sent to."""
    return collector if collector.endswith(PATH) else collector.rstrip("/") + PATH


def start(collector: str) -> None:
    """Begin to record, if there is a collector and a way to reach it."""
    global _recorder
    if collector and installed():
        _recorder = SpanRecorder(collector)


async def stop() -> None:
    """Send the remaining spans, for a short time: a collector that does not answer delays no stop."""
    global _recorder
    if _recorder is not None:
        thread = Thread(target=_recorder.provider.shutdown, daemon=True)
        thread.start()
        await asyncio.to_thread(thread.join, LONGEST_STOP)
        _recorder = None


def recording() -> bool:
    """Return whether spans are recorded in this process."""
    return _recorder is not None


def begin(name: str, within: TraceSpan | None = None, kind: str = "internal", **facts: Any) -> TraceSpan:
    """Begin a span within another one, by default within the current span of this task."""
    if _recorder is None:
        return NOTHING
    span = TraceSpan(_recorder.begin(name, _recorder.within(within or current()), kind))
    span.add(**facts)
    return span


def begin_request(traceparent: str, **facts: Any) -> TraceSpan:
    """Begin the span of a request from outside; `traceparent` names the span of the program that sent it."""
    if _recorder is None:
        return NOTHING
    span = TraceSpan(_recorder.begin("request", _recorder.after(traceparent), "server"))
    span.add(**facts)
    return span


def current() -> TraceSpan:
    """Return the current span of this task."""
    return _current.get()


def enter(span: TraceSpan) -> None:
    """Make later spans of this task part of a span."""
    if span.records:
        _current.set(span)


@contextmanager
def inside(span: TraceSpan) -> Iterator[None]:
    """Make spans that begin meanwhile part of a span."""
    token = _current.set(span)
    try:
        yield
    finally:
        _current.reset(token)
