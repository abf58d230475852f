"""Counts what happens in this process and renders the counts in the Prometheus format."""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Collection, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SHARED_EVERY, GONE_AFTER = 5.0, 15.0  # seconds between messages to other processes, and after which one has ended
SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

# A registry of our own: the library's would be shared with other loaded code.
REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)

REQUESTS = Counter("toolsupport_requests", "Answered requests.", ["method", "status"], registry=REGISTRY)
REQUEST_SECONDS = Histogram("toolsupport_request_seconds", "Time a request took.", buckets=SECONDS, registry=REGISTRY)
SOCKETS = Gauge("toolsupport_sockets", "Open chat pages.", registry=REGISTRY)
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


def own_text() -> str:
    """Return the metrics of this process in the Prometheus text format."""
    return generate_latest(REGISTRY).decode()


class ProcessMetrics:
    """The metrics of all processes that share a port; a request for them reaches any one of these.

    `name` is the number of this process, and `group` the name of all of them, which no other machine has; both are
    empty where only one process serves. The metrics of others are as old as their last message.
    """

    def __init__(self) -> None:
        self.name = self.group = ""
        self._others: dict[str, tuple[float, str]] = {}

    def share(self, number: int) -> None:
        """Set the number of this process among those that the parent process started."""
        machine = re.sub("[^A-Za-z0-9-]", "-", socket.gethostname())[:60]
        self.name, self.group = str(number), f"{machine}.{os.getppid()}"

    def keep(self, process: str, text: str) -> None:
        """Store the counts of another process."""
        self._others[process] = time.monotonic(), text

    def text(self) -> str:
        """Return the metrics of all of them, each with the label `process`, or without it if only one serves."""
        if not self.name:
            return own_text()
        oldest = time.monotonic() - GONE_AFTER
        others = {process: text for process, (at, text) in self._others.items() if at > oldest}
        return labelled({self.name: own_text(), **others})


class _Families:
    """Families of metrics in the form in which the library renders them."""

    def __init__(self, families: Collection[Metric]) -> None:
        self._families = families

    def collect(self) -> Collection[Metric]:
        return self._families


def labelled(texts: Mapping[str, str]) -> str:
    """Return the metrics of several processes as one text, each with its process as a label."""
    families: dict[str, Metric] = {}
    for process, text in texts.items():
        for family in text_string_to_metric_families(text):
            whole = families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
            for sample in family.samples:
                whole.add_sample(sample.name, {**sample.labels, "process": process}, sample.value)
    return generate_latest(_Families(families.values())).decode()


PROCESSES = ProcessMetrics()
