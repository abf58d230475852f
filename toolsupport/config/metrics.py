"""Counts what happens in this process and renders the counts in the Prometheus format."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

# Ours alone: a library's registry would be shared with whatever else is loaded.
REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)

REQUESTS = Counter("toolsupport_requests", "Answered requests.", ["method", "status"], registry=REGISTRY)
REQUEST_SECONDS = Histogram("toolsupport_request_seconds", "Time a request took.", buckets=SECONDS, registry=REGISTRY)
SOCKETS = Gauge("toolsupport_sockets", "Open pages of conversations.", registry=REGISTRY)
FRAMES = Counter("toolsupport_frames", "Frames from pages.", ["outcome"], registry=REGISTRY)
THREADS = Gauge("toolsupport_work_threads", "Threads that work for tools.", registry=REGISTRY)
RUNNING = Gauge("toolsupport_turns_running", "Answers that are being written.", registry=REGISTRY)
TURNS = Counter("toolsupport_turns", "Answers that ended.", ["reason"], registry=REGISTRY)
REVOKED = Counter("toolsupport_sockets_revoked", "Pages closed because a permission ended.", ["why"], registry=REGISTRY)
SIGN_INS = Counter("toolsupport_sign_ins", "Attempts to sign in.", ["outcome"], registry=REGISTRY)
for _outcome in ("tried", "succeeded"):
    SIGN_INS.labels(_outcome)  # a rule that subtracts one from the other needs both from the start
GARBLED = Counter("toolsupport_calls_garbled", "Calls that a server could not read.", registry=REGISTRY)
PROGRAMS = Gauge("toolsupport_programs_running", "Answers that are being written to programs.", registry=REGISTRY)
MARKS = Gauge("toolsupport_marks", "What administrators have to solve, in the whole site.", ["kind"], registry=REGISTRY)
# A model is identified by the number in the URL of its page: names do not belong in metrics.
OF_CALLS = ["model", "format", "outcome"]
CALLS = Counter("toolsupport_calls", "Calls that models made.", OF_CALLS, registry=REGISTRY)
CALL_REQUESTS = Counter(
    "toolsupport_call_requests",
    "Requests that led to calls, by the worst outcome of one.",
    ["server", *OF_CALLS],
    registry=REGISTRY,
)
CALL_SECONDS = Counter("toolsupport_call_seconds", "Time of the replies that held them.", OF_CALLS, registry=REGISTRY)
CALL_TOKENS = Counter("toolsupport_call_tokens", "Tokens of the replies that held them.", OF_CALLS, registry=REGISTRY)


def text() -> bytes:
    """Return all metrics in the Prometheus text format."""
    return generate_latest(REGISTRY)
