"""A collector of OpenTelemetry spans on this machine: receives OTLP over HTTP, as a real one does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.serving import PATIENCE


@dataclass(frozen=True)
class ReceivedSpan:
    """One span as it arrived; `inside` is the id of its parent, or ""."""

    name: str
    id: str
    inside: str
    trace: str
    kind: int
    failed: bool
    facts: dict[str, Any]


@dataclass
class SpanReceiver:
    """What arrived so far: the requests, their bodies and the spans in them."""

    port: int = 0
    status: int = 200
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    arrived: threading.Condition = field(default_factory=threading.Condition)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def spans(self) -> list[ReceivedSpan]:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        sent = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        scopes = [scope for one in sent for resource in one.resource_spans for scope in resource.scope_spans]
        return [_span(span) for scope in scopes for span in scope.spans]

    def until(self, *names: str) -> list[ReceivedSpan]:
        """The spans, when those with these names are there."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: set(names) <= {one.name for one in self.spans()}, PATIENCE), (
                self.spans()
            )
        return self.spans()


def _span(span: Any) -> ReceivedSpan:
    facts = {one.key: _value(one.value) for one in span.attributes}
    ids = span.span_id.hex(), span.parent_span_id.hex(), span.trace_id.hex()
    return ReceivedSpan(span.name, *ids, span.kind, span.status.code == 2, facts)


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(one) for one in value.array_value.values] if kind == "array_value" else getattr(value, kind)


@contextmanager
def span_receiver(status: int = 200) -> Iterator[SpanReceiver]:
    """Listen at a port of its own."""
    receiver = SpanReceiver(status=status)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            with receiver.arrived:
                receiver.requests.append((self.path, dict(self.headers)))
                receiver.bodies.append(body if receiver.status == 200 else b"")
                receiver.arrived.notify_all()
            self.send_response(receiver.status)
            if receiver.status == 302:
                self.send_header("location", "/elsewhere")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield receiver
        finally:
            server.shutdown()
