"""Where trials are made: one question to the model under test at a time, within limits, with its evidence kept."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from toolsupport import exchange
from toolsupport.core.events import (
    CallReady,
    CallRejected,
    Event,
    Failed,
    Reread,
    TextDelta,
    ThinkingDelta,
    ToolsRefused,
    Usage,
)
from toolsupport.core.refusals import MALFORMED, classify
from toolsupport.core.verdicts import Outcome
from toolsupport.core.words import Brief, Endpoint, Message, Permit, ToolCall, ToolSpec
from toolsupport.providers.openai_compatible import CALL_LOST

STEP_SECONDS = 5.0  # for one answer of a loaded model
STRETCH = 3.0  # times its warm answer, where it is slower than that
TOTAL_SECONDS = 120.0  # without loading
OUTPUT_TOKENS = 512


@dataclass(frozen=True, slots=True)
class Question:
    """What one trial asks. `format` is native or a text format; `think` None leaves it to the server."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    format: str = "native"
    streamed: bool = True
    think: bool | None = None


@dataclass(slots=True)
class Reply:
    """What came back. `seconds` is the whole answer, `failed` why there is none."""

    text: str = ""
    thinking: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    rejected: list[CallRejected] = field(default_factory=list)
    refused: ToolsRefused | None = None
    failed: Failed | None = None
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0

    def take(self, event: Event) -> None:
        if isinstance(event, TextDelta | ThinkingDelta | Reread):
            self._words(event)
        elif isinstance(event, CallReady):
            self.calls.append(event.call)
        elif isinstance(event, CallRejected):
            self.rejected.append(event)
        elif isinstance(event, ToolsRefused):
            self.refused = event
        elif isinstance(event, Failed):
            self.failed = event
        elif isinstance(event, Usage):
            self.usage = event

    def _words(self, event: TextDelta | ThinkingDelta | Reread) -> None:
        if isinstance(event, TextDelta):
            self.text += event.text
        elif isinstance(event, ThinkingDelta):
            self.thinking += event.text
        else:
            self.text, self.thinking = event.text, event.reasoning(self.thinking)


@dataclass(frozen=True, slots=True)
class Trial:
    """One question with its reply and what that proves."""

    question: Question
    reply: Reply
    outcome: Outcome
    n: int


@dataclass(frozen=True, slots=True)
class Subject:
    """The model under test. `brief` carries its options and no tools; `formats` are worth trying, the best first.

    `thinks` is what is declared of it (None: nothing). `leak_flag` is the setting of this kind of server without which
    calls stay in the text.
    """

    endpoint: Endpoint
    brief: Brief
    formats: tuple[str, ...] = ()
    thinks: bool | None = None
    leak_flag: str = ""


Keep = Callable[[Trial], Awaitable[None]]


class StepLeft(Exception):
    """A person does not want to wait for the rest of this step."""


class Laboratory:
    """The trials of one test. `keep` is called with each as soon as it was made."""

    def __init__(self, subject: Subject, keep: Keep, chance: random.Random) -> None:
        self.subject = subject
        self.chance = chance
        self.outcomes: list[Outcome] = []
        self.limit = STEP_SECONDS
        self.load_ms: int | None = None
        self.left: Callable[[], bool] = lambda: False
        self._keep = keep
        self._spent = 0.0

    async def ask(self, question: Question) -> Reply:
        """Put a question within the limits of a trial; what took too long comes back as a failure.

        Raises StepLeft where `left` says that a person skips the step that asks.
        """
        if self.left():
            raise StepLeft
        seconds = min(self.limit, TOTAL_SECONDS - self._spent)
        if seconds <= 0:
            return Reply(failed=Failed("timeout", f"The whole test has {TOTAL_SECONDS:g} s, and they are over."))
        return await self._timed(question, seconds)

    async def warm_up(self, question: Question) -> Reply:
        """The first question: loading the model is waited for and not counted; it sets the limits of the others."""
        reply = await self._timed(question, None)
        self.load_ms = round(reply.usage.load_ms) if reply.usage.load_ms is not None else None
        self._spent = 0.0
        if reply.failed is None:
            again = await self._timed(question, max(STEP_SECONDS, 2 * reply.seconds))
            self.limit = max(STEP_SECONDS, STRETCH * again.seconds)
            if self.load_ms is None:
                self.load_ms = max(0, round((reply.seconds - again.seconds) * 1000))
        return reply

    async def note(self, question: Question, reply: Reply, outcome: Outcome) -> None:
        """Keep a trial with what it proves."""
        self.outcomes.append(outcome)
        n = sum(known.step == outcome.step for known in self.outcomes)
        await self._keep(Trial(question, reply, outcome, n))

    @property
    def run_ms(self) -> int:
        return round(self._spent * 1000)

    async def _timed(self, question: Question, seconds: float | None) -> Reply:
        reply, begun = Reply(), time.monotonic()
        try:
            async with asyncio.timeout(seconds):
                await self._listen(question, reply)
        except TimeoutError:
            reply.failed = Failed("timeout", f"No whole answer within {seconds:.0f} s.")
        reply.seconds = time.monotonic() - begun
        self._spent += reply.seconds
        return reply

    async def _listen(self, question: Question, reply: Reply) -> None:
        async with aclosing(exchange.ask(self.subject.endpoint, self._brief(question), question.messages)) as batches:
            async for batch in batches:
                for event in batch:
                    reply.take(event)

    def _brief(self, question: Question) -> Brief:
        """Nothing but the question differs from an ordinary request, least of all what would load the model anew."""
        base = self.subject.brief
        return replace(
            base,
            tools=question.tools,
            format=question.format if question.tools else "",
            stream=question.streamed,
            think=question.think if question.think is not None else base.think,
            options={**base.options, "num_predict": OUTPUT_TOKENS, "temperature": 0.0},
            permit=Permit.PROBE,
        )


def trouble(reply: Reply) -> tuple[str, str] | None:
    """(code, why) where there is no reply to judge; None where there is one.

    A call that the server could not read is the model's doing; anything else that failed says nothing about it.
    """
    if reply.failed is None:
        return None
    if reply.failed.message == CALL_LOST or classify(reply.failed.status, reply.failed.body).label == MALFORMED:
        return "malformed", reply.failed.message
    if reply.failed.kind == "empty":
        return "no_word", reply.failed.message
    return ("timeout" if reply.failed.kind == "timeout" else "failed"), reply.failed.message


def calls_of(reply: Reply, tool: str) -> Sequence[ToolCall]:
    """The calls of one tool."""
    return [call for call in reply.calls if call.name == tool]
