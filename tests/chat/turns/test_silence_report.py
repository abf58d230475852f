"""While a model server is silent, pages show the reason; when it continues, they show that too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from chat.broadcast import frames
from chat.turns import silence_report
from chat.turns.silence_report import SilenceReport
from tests.toolsupport.providers.scripted import Scripted, answer, scripted, told
from toolsupport import providers
from toolsupport.core.events import Event, Finished, TextDelta
from toolsupport.core.types import Capabilities, RequestSpec, ToolSpec

TOOLS = (ToolSpec("f"),)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silence_report, "QUIET", 0)
    monkeypatch.setattr(silence_report, "EVERY", 0.001)


def context(server: Scripted, kind: str, tools: Sequence[ToolSpec] = ()) -> Any:
    spec = RequestSpec("m:latest", Capabilities({}), tools=tuple(tools), format="native" if tools else "")

    class Context:
        endpoint, request_spec = server.endpoint(kind=kind), spec

    return Context()


class Page:
    """What a page is sent; `until` waits for a phase."""

    def __init__(self) -> None:
        self.frames: list[frames.TurnPhaseFrame] = []
        self._came = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()

    def tell(self, frame: frames.ServerFrame) -> None:
        assert isinstance(frame, frames.TurnPhaseFrame)
        self.frames.append(frame)
        task = asyncio.get_running_loop().create_task(self._notify())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _notify(self) -> None:
        async with self._came:
            self._came.notify_all()

    async def until(self, phase: str) -> None:
        async with asyncio.timeout(10), self._came:
            await self._came.wait_for(lambda: phase in [frame.phase for frame in self.frames])

    @property
    def phases(self) -> list[str]:
        """The phases in their order, each once."""
        return list(dict.fromkeys(frame.phase for frame in self.frames))


async def reply(page: Page, begins: bool, phase: str) -> AsyncGenerator[list[Event], None]:
    """A reply that is silent, before or after its first word, until the page shows the phase."""
    if begins:
        yield [TextDelta("Hi")]
    await page.until(phase)
    yield [Finished("stop")]


LOADED, NOT_LOADED = told({"models": [{"name": "m:latest"}]}), told({"models": []})
# The answer of a llama-server that reads its model, to /health as to everything else.
BUSY = answer(503, b'{"error":{"message":"Loading model","type":"unavailable_error","code":503}}')
UNWELL = answer(503, b'{"error":{"message":"failed to load model: out of memory","code":503}}')


def routed(state: str) -> Any:
    """The list of a llama-server with several models."""
    return told(
        {"data": [{"id": "m:latest", "status": {"value": state}}, {"id": "other", "status": {"value": "loaded"}}]}
    )


def listed(state: str) -> Any:
    """LM Studio's own list."""
    return told({"data": [{"id": "m:latest", "state": state}]})


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("kind", "ps", "begins", "tools", "phase"),
    [
        ("ollama", NOT_LOADED, False, (), "loading"),
        ("ollama", LOADED, False, (), "waiting"),
        ("ollama", answer(404), False, (), "waiting"),
        ("simulator", NOT_LOADED, False, (), "loading"),
        ("openai", NOT_LOADED, False, (), "waiting"),
        ("ollama", LOADED, True, TOOLS, "writing_call"),
    ],
)
async def test_the_page_shows_why_nothing_comes(kind: str, ps: Any, begins: bool, tools: Any, phase: str) -> None:
    page = Page()
    async with scripted() as server:
        server.ps = ps
        report = SilenceReport(1, context(server, kind, tools), page.tell)
        async for _ in report.passed_on(reply(page, begins, phase), asyncio.create_task):
            pass
    assert [name for name in page.phases if name != "waiting"] == [
        *([phase] if phase != "waiting" else []),
        "answering",
    ]
    assert page.frames[-1].phase == "answering"


# C3
@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("kind", "loading", "then"),
    [
        ("ollama", NOT_LOADED, LOADED),
        ("llamacpp", BUSY, told({"data": [{"id": "m:latest"}]})),
        ("llamacpp", BUSY, UNWELL),
        ("llamacpp", routed("loading"), routed("loaded")),
        ("lmstudio", listed("not-loaded"), listed("loaded")),
    ],
)
async def test_the_page_shows_loading_only_while_the_model_is_loaded(kind: str, loading: Any, then: Any) -> None:
    page = Page()
    async with scripted(loading) as server:
        server.ps = loading

        async def slow() -> AsyncGenerator[list[Event], None]:
            await page.until("loading")
            server.answers, server.ps = [then], then
            await page.until("waiting")
            yield [Finished("stop")]

        report = SilenceReport(1, context(server, kind), page.tell)
        async for _ in report.passed_on(slow(), asyncio.create_task):
            pass
    shown = [frame.phase for frame in page.frames]
    shown = shown[shown.index("loading") :]
    assert shown == sorted(shown, key=["loading", "waiting", "answering"].index)


@pytest.mark.asyncio
@pytest.mark.parametrize(("kind", "tools"), [("openai", TOOLS), ("ollama", ()), ("simulator", TOOLS)])
async def test_no_call_is_claimed_where_none_is_held_back(
    kind: str, tools: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, ticks, enough = Page(), [0], asyncio.Event()
    report = SilenceReport._report

    def counted(self: SilenceReport) -> None:
        report(self)
        ticks[0] += 1
        if ticks[0] > 20:
            enough.set()

    async def begun() -> AsyncGenerator[list[Event], None]:
        yield [TextDelta("Hi")]
        monkeypatch.setattr(SilenceReport, "_report", counted)
        await enough.wait()
        yield [Finished("stop")]

    async with scripted() as server:
        server.ps = LOADED
        async for _ in SilenceReport(1, context(server, kind, tools), page.tell).passed_on(
            begun(), asyncio.create_task
        ):
            pass
    assert "writing_call" not in page.phases


@pytest.mark.asyncio
@pytest.mark.parametrize(("keep_alive", "shown"), [("", "waiting"), ("0s", "loading")])
async def test_a_model_that_just_answered_is_not_looked_up_again(keep_alive: str, shown: str) -> None:
    """Unless it has a time of its own: then it may have been unloaded at once."""
    async with scripted() as server:
        server.ps = LOADED
        first = Page()
        async for _ in SilenceReport(1, context(server, "ollama"), first.tell).passed_on(
            reply(first, False, "waiting"), asyncio.create_task
        ):
            pass
        server.ps, second = NOT_LOADED, Page()
        again = context(server, "ollama")
        again.request_spec = replace(again.request_spec, keep_alive=keep_alive)
        async for _ in SilenceReport(2, again, second.tell).passed_on(reply(second, False, shown), asyncio.create_task):
            pass
    assert second.phases[0] == shown


@pytest.mark.asyncio
async def test_answers_that_begin_together_look_the_model_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silence_report, "EVERY", 3600)
    asked, answered, waiting = list[str](), asyncio.Event(), asyncio.Barrier(5)

    async def is_loaded(_: object, model: str) -> bool:
        asked.append(model)
        await answered.wait()
        return False

    async def silent() -> AsyncGenerator[list[Event], None]:
        await waiting.wait()
        yield [Finished("stop")]

    monkeypatch.setattr(providers, "is_loaded", is_loaded)
    async with scripted() as server, asyncio.TaskGroup() as tasks:
        reports = [SilenceReport(turn, context(server, "ollama"), Page().tell) for turn in range(4)]

        async def run(report: SilenceReport) -> None:
            async for _ in report.passed_on(silent(), asyncio.create_task):
                pass

        for report in reports:
            tasks.create_task(run(report))
        while len(asked) < 1 or waiting.n_waiting < 4:
            await asyncio.sleep(0)
        answered.set()
        # The first one ends, the others still have what it asked.
        while any(report._loaded is None for report in reports):
            await asyncio.sleep(0)
        await waiting.wait()
    assert asked == ["m:latest"] and all(report._loaded is False for report in reports)


@pytest.mark.asyncio
async def test_reports_and_questions_end_with_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asyncio.Event()

    async def is_loaded(*_: object) -> bool:
        asked.set()
        return await asyncio.Event().wait()  # a server that never answers this

    async def answer_meanwhile() -> AsyncGenerator[list[Event], None]:
        await asked.wait()
        yield [Finished("stop")]

    monkeypatch.setattr(providers, "is_loaded", is_loaded)
    async with scripted() as server, asyncio.timeout(10):
        report = SilenceReport(1, context(server, "ollama"), Page().tell)
        async for _ in report.passed_on(answer_meanwhile(), asyncio.create_task):
            pass
    assert report._look is not None and report._look.cancelled() and report._timer.cancelled()
