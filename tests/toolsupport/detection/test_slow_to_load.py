"""A model that takes a minute and a half to load, by a clock that jumps: waited for, not counted, never a no."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from toolsupport import exchange, providers
from toolsupport.core.errors import Unreachable
from toolsupport.core.events import CallReady, Event, Finished, TextDelta
from toolsupport.core.side_findings import STEPS
from toolsupport.core.types import Capabilities, ChatMessage, Endpoint, RequestSpec, Role, ToolCall
from toolsupport.core.verdicts import Verdict
from toolsupport.detection import ProbeRunner, ProbeTarget, ProbeTrial, per_tool, probe_runner
from toolsupport.detection.probe_limits import LIMITS
from toolsupport.detection.probe_run import StepProgress, examine

LOAD = 90.0


class JumpingLoop(asyncio.SelectorEventLoop):
    """Where nothing is ready it does not wait: its time jumps to whatever comes next."""

    now = 0.0

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        waiting = [handle.when() for handle in self._scheduled if not handle.cancelled()]  # type: ignore[attr-defined]
        if waiting and not self._ready:  # type: ignore[attr-defined]
            self.now = max(self.now, min(waiting))
        super()._run_once()  # type: ignore[misc]


Slowness = Callable[[int, RequestSpec], float]


async def _busy(_: Endpoint, name: str = "") -> None:
    raise Unreachable("busy")


def examined(
    slow: Slowness,
    monkeypatch: pytest.MonkeyPatch,
    kind: str = "tools",
    words: str = "Hello.",
    reply: Callable[[Sequence[ChatMessage], RequestSpec], list[Event]] | None = None,
    told: list[StepProgress] | None = None,
) -> tuple[Verdict, ProbeRunner, float]:
    """(the verdict, where it was found, seconds in all) on a server that only greets, after so many seconds."""
    received = 0

    async def ask(
        _: Endpoint, request_spec: RequestSpec, log: Sequence[ChatMessage]
    ) -> AsyncGenerator[list[Event], None]:
        nonlocal received
        received += 1
        await asyncio.sleep(slow(received, request_spec))
        yield [*(reply(log, request_spec) if reply else [TextDelta(words)]), Finished("stop")]

    async def keep(trial: ProbeTrial) -> None: ...

    async def tell(step: StepProgress) -> None:
        if told is not None:
            told.append(step)

    runner = ProbeRunner(
        ProbeTarget(Endpoint("ollama", "http://127.0.0.1:9"), RequestSpec("big:70b", Capabilities({})), ("hermes",)),
        keep,
        random.Random(1),
    )
    loop = JumpingLoop()
    monkeypatch.setattr(probe_runner, "time", SimpleNamespace(monotonic=loop.time))
    monkeypatch.setattr(exchange, "ask", ask)
    monkeypatch.setattr(providers, "describe", _busy)
    monkeypatch.setattr(providers, "survey", _busy)
    try:
        return loop.run_until_complete(examine(runner, kind, tell, lambda step: False)), runner, loop.now
    finally:
        loop.close()


def after_loading(received: int, _: RequestSpec) -> float:
    return LOAD if received == 1 else 1.0


def loads_for_tools(received: int, request_spec: RequestSpec) -> float:
    """Loaded once for a greeting, and once more for every request with tools."""
    return LOAD if received == 1 or request_spec.tools else 1.0


def is_loaded_again_each_time(received: int, _: RequestSpec) -> float:
    return LOAD


# D6
def test_loading_is_waited_for_and_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict, runner, seconds = examined(after_loading, monkeypatch)
    # It answered each question, and called nothing: that was measured, with the model loaded.
    assert (verdict.name, runner.load_ms) == ("ignored", round((LOAD - 1) * 1000))
    assert runner.run_ms < LIMITS.total * 1000 and seconds > LOAD


# D6
@pytest.mark.parametrize("slow", [loads_for_tools, is_loaded_again_each_time])
def test_what_was_never_answered_in_time_proves_nothing(slow: Slowness, monkeypatch: pytest.MonkeyPatch) -> None:
    verdict, _, seconds = examined(slow, monkeypatch)
    assert (verdict.name, dict[str, Any](verdict.values)) == ("inconclusive", {})
    assert seconds > LOAD


def never_answers(received: int, _: RequestSpec) -> float:
    return 1e6


def hangs_after_a_while(received: int, _: RequestSpec) -> float:
    return 1e6 if received > 4 else 1.0


# D6
@pytest.mark.parametrize("kind", ["tools", "formats", "per_tool"])
@pytest.mark.parametrize("slow", [never_answers, hangs_after_a_while])
def test_a_server_that_never_answers_is_given_up(slow: Slowness, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    verdict, runner, seconds = examined(slow, monkeypatch, kind)
    assert (verdict.name, dict[str, Any](verdict.values)) == ("inconclusive", {})
    assert runner.run_ms <= LIMITS.total * 1000
    assert seconds <= LIMITS.first + LIMITS.total


# D6
def test_a_model_that_thinks_has_more_time_and_no_more_than_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict, runner, _ = examined(
        lambda received, _: 1.0 if received < 3 else 19.0, monkeypatch, words="<think>Hm.</think>Hi."
    )
    assert (verdict.name, dict[str, Any](verdict.values)) == ("ignored", {"tools": False})
    assert LIMITS.total * 1000 < runner.run_ms <= LIMITS.thinking * 1000


# D6
@pytest.mark.parametrize("kind", ["formats", "per_tool"])
def test_single_tests_load_the_model_first(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, runner, _seconds = examined(after_loading, monkeypatch, kind)
    assert runner.load_ms == round((LOAD - 1) * 1000)
    assert not any(outcome.code == "timeout" for outcome in runner.outcomes)


DEMAND = re.compile(r'ticket "([A-Z0-9-]+)" and copies (\d+)')
SIDE = ("multi_turn", "leaves_alone", "parallel", "tool:read_file", "tool:write_file", "tool:list_directory")


def honest(log: Sequence[ChatMessage], request_spec: RequestSpec) -> list[Event]:
    """Does all that is asked of it."""
    last = log[-1]
    if last.role is Role.TOOL or not request_spec.tools:
        return [TextDelta(f"As I read: {last.content}")]
    asked = [{"ticket": ticket, "copies": int(copies)} for ticket, copies in DEMAND.findall(last.content)]
    if request_spec.tools[0].name in per_tool.FILE_TOOLS:
        asked = [dict.fromkeys(("path", "content", "old", "new", "command"), last.content)]
    calls = [CallReady(ToolCall(f"call_{n}", request_spec.tools[0].name, each)) for n, each in enumerate(asked)]
    return [*calls] if calls else [TextDelta("Hello.")]


# Seconds of an answer → the findings for which there is no time.
SLOW: dict[float, tuple[str, ...]] = {
    0.1: (),
    1.0: (),
    3.0: (),
    6.0: (),
    7.9: SIDE[-1:],
    9.5: SIDE[-3:],
    14.0: SIDE[1:],
    22.0: SIDE,
}


# D6
@pytest.mark.parametrize("seconds", SLOW)
def test_each_finding_has_its_two_trials_before_any_has_more(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[StepProgress] = []
    verdict, runner, _ = examined(lambda received, _: seconds, monkeypatch, reply=honest, told=told)
    missing = [name for name in SIDE if name not in verdict.values]
    assert (verdict.values["tools"], tuple(missing)) == (True, SLOW[seconds]), verdict
    assert False not in verdict.values.values() and runner.run_ms <= LIMITS.total * 1000
    ended = {step.name: step for step in told}
    assert {step.state for step in ended.values()} == {"done", "not_needed"}
    for name in missing:
        step = {value: key for key, value in STEPS.items()}.get(name, "per_tool")
        assert ended[step].detail.startswith("Not measured, because the test ran out of time"), ended[step]
    assert "tool:list_directory" not in missing or "list_directory" in ended["per_tool"].detail
