"""Runs trials: one request at a time to the model under test, within limits, storing the evidence.

Limits are those of probe_limits.py. A model counts as thinking if that is declared, if its thoughts were seen, or if a
reply used up its tokens; the whole test has more time only after one of the latter two.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from toolsupport import exchange, providers
from toolsupport.core import side_findings
from toolsupport.core.events import Event, Failed
from toolsupport.core.outcomes import TrialOutcome
from toolsupport.core.sentences import sentence
from toolsupport.core.types import JSON, ChatMessage, Endpoint, Permit, Request, RequestSpec, ToolSpec
from toolsupport.detection import loading_timeout
from toolsupport.detection.probe_limits import LIMITS, ProbeLimits
from toolsupport.detection.probe_reply import ProbeReply

STRETCH = 3.0  # times the duration of a warm answer, for a model that is slower than the limit of an answer
OUTPUT_TOKENS = 512
SHORTEST = 0.05  # seconds in which no model answers
# The same for a model that thinks.
THINKING_STRETCH = 4.0
THINKING_TOKENS = 4096
# Seconds of an answer → how many trials of a side finding have to agree: quick answers are sampled more.
AGREEING = ((2.0, 6), (float("inf"), 5))


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """The request of one trial. `format` is native or a text format; `think` None leaves it to the server.

    `schema` constrains the reply of a request without tools.
    """

    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    format: str = "native"
    streamed: bool = True
    think: bool | str | None = None
    schema: JSON | None = None


@dataclass(frozen=True, slots=True)
class ProbeTrial:
    """One request with its reply and the outcome."""

    question: ProbeRequest
    reply: ProbeReply
    outcome: TrialOutcome
    n: int


@dataclass(frozen=True, slots=True)
class ProbeTarget:
    """The model under test. `request_spec` has its options and no tools; `formats` are those to try, the best first.

    `thinks` is whether it is known to think (None: unknown). `parsers` are those of its family, by kind of server.
    `runs_code`: calls written as a program may run here. `may_force`: the team allows constrained output.
    `later`: steps that the verdict does not need may follow it, after the tests of other models.
    """

    endpoint: Endpoint
    request_spec: RequestSpec
    formats: tuple[str, ...] = ()
    thinks: bool | None = None
    parsers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    runs_code: bool = False
    may_force: bool = True
    later: bool = False


SaveTrial = Callable[[ProbeTrial], Awaitable[None]]


class StepSkipped(Exception):
    """A person skipped the rest of this step."""


class TimeLimitReached(Exception):
    """The time of the whole test is used up."""


async def _ignore_progress(_: str) -> None:
    """Ignore progress: the default observer."""


class ProbeRunner:
    """Runs the trials of one test. `keep` is called with each finished trial, `report` with the progress of a step.

    In the `first_round` each side finding gets the minimum of trials, in later rounds as many as are useful. `think`
    and `streams` are the settings of later requests with tools, the same as in turns. `bare` and `greeted` are the
    answers to the greeting without and with tools, `written` the texts without a recognised call although one was
    requested. `postponed`: the steps of LATER are left for after the verdict.
    """

    def __init__(
        self, subject: ProbeTarget, keep: SaveTrial, chance: random.Random, limits: ProbeLimits = LIMITS
    ) -> None:
        self.subject = subject
        self.chance = chance
        self.outcomes: list[TrialOutcome] = []
        self.limits = limits
        self.limit = limits.answer
        self.thinks = self.declared_thinking = subject.thinks is True
        self.seen_thinking = False
        self.think = subject.request_spec.think
        self.streams = True
        self.first_round = False
        self.postponed = False
        self.bare: ProbeReply | None = None
        self.greeted: ProbeReply | None = None
        self.written: list[str] = []
        self.load_ms: int | None = None
        self.left: Callable[[], bool] = lambda: False
        self.report: Callable[[str], Awaitable[None]] = _ignore_progress
        self._answers = 0
        self._caps: set[int] = set()
        self._keep = keep
        self._spent = 0.0

    # -- building requests --

    def offering(self, messages: tuple[ChatMessage, ...], tools: tuple[ToolSpec, ...]) -> ProbeRequest:
        """Build a request with tools, as turns will build it."""
        return ProbeRequest(messages, tools, streamed=self.streams, think=self.think)

    @property
    def settings(self) -> tuple[bool | None, ...]:
        """Return the settings of thinking to try: off and on if this protocol can switch it, else only None.

        Ollama refuses to switch thinking on for a model that does not declare it.
        """
        if not self.thinks or not providers.switches_thinking(self.subject.endpoint.kind):
            return (None,)
        refuses = providers.provider(self.subject.endpoint.kind).wire == "ollama" and not self.declared_thinking
        return (None,) if refuses else (False, True)

    def sampled(self, step: str, subject: str = "") -> bool:
        """Return whether a side finding has enough trials in this round."""
        pace = self._spent / max(1, self._answers)
        agreeing = side_findings.needed(self.outcomes, next(number for most, number in AGREEING if pace <= most))
        if side_findings.settled(self.outcomes, step, agreeing, subject):
            return True
        return self.first_round and side_findings.begun(self.outcomes, step, subject)

    # -- sending them --

    async def ask(self, question: ProbeRequest) -> ProbeReply:
        """Send a request within the limits of a trial; a timeout is returned as a failure.

        A server that refuses tools together with streaming is asked without streaming, now and from then on; later
        streamed trials show the refusal. Raises StepSkipped if `left` reports that a person skipped the step, and
        TimeLimitReached.
        """
        if self.left():
            raise StepSkipped
        seconds = min(self._limit_of(question), self.left_over)
        reply = await self._timed(question, seconds)
        self._spent += reply.seconds
        self._answers += 1
        self._learn(reply)
        if self.streams and question.streamed and reply.refuses_streaming:
            self.streams = False
            return await self.ask(replace(question, streamed=False))
        return reply

    def _learn(self, reply: ProbeReply) -> None:
        """Store what a reply shows about later ones: that the model thinks, and where its server cuts replies."""
        self.seen_thinking = self.seen_thinking or reply.thought or reply.cut
        self.thinks = self.thinks or self.seen_thinking
        if reply.cut and reply.usage.output_tokens:
            self._caps.add(reply.usage.output_tokens)

    @property
    def left_over(self) -> float:
        """Return the remaining seconds of the whole test. Raises TimeLimitReached."""
        left = (self.limits.thinking if self.seen_thinking else self.limits.total) - self._spent
        if left < SHORTEST:
            raise TimeLimitReached
        return left

    async def warm_up(self, question: ProbeRequest) -> ProbeReply:
        """Send the first request: the time for loading is not counted; it sets the limits of the others."""
        self.bare = reply = await self._loaded(question)
        self.load_ms = round(reply.usage.load_ms) if reply.usage.load_ms is not None else None
        self._learn(reply)
        if reply.failed is None:
            plainly = replace(question, think=self.settings[0])
            least = self.limits.answer
            again = await self._timed(plainly, max(least, min(2 * reply.seconds, self.limits.total)))
            self._spent, self._answers = again.seconds, 1
            self.limit = max(least, STRETCH * again.seconds)
            if self.load_ms is None:
                self.load_ms = max(0, round((reply.first - again.first) * 1000))
        return reply

    async def _loaded(self, question: ProbeRequest) -> ProbeReply:
        """Return the first answer, repeating the request while the server reports that it is loading the model."""
        loading = await loading_timeout.patience(self.subject.endpoint, self.subject.request_spec.model, self.limits)
        await self.report(sentence("may_load", seconds=loading))
        begun = time.monotonic()
        reply = await self._timed(question, self.limits.total, loading)
        while loading_timeout.is_loading(reply) and (spent := time.monotonic() - begun) < self.limits.load:
            await self.report(sentence("loading", seconds=spent))
            await asyncio.sleep(self.limits.pause)
            reply = await self._timed(question, self.limits.total, self.limits.load - spent)
        reply.seconds = time.monotonic() - begun
        return reply

    async def note(self, question: ProbeRequest, reply: ProbeReply, outcome: TrialOutcome) -> None:
        """Store a trial with its outcome."""
        think = question.think if isinstance(question.think, bool) else None
        outcome = replace(outcome, think=think, thought=reply.thought)
        self.outcomes.append(outcome)
        n = sum(known.step == outcome.step for known in self.outcomes)
        await self._keep(ProbeTrial(question, reply, outcome, n))

    @property
    def run_ms(self) -> int:
        return round(self._spent * 1000)

    def _limit_of(self, question: ProbeRequest) -> float:
        return self.limit * (THINKING_STRETCH if self.thinks and question.think is not False else 1.0)

    async def _timed(self, question: ProbeRequest, seconds: float, loading: float = 0.0) -> ProbeReply:
        """Collect the answer within `seconds`, counted from its first token if `loading` covers the time before."""
        budget = THINKING_TOKENS if self.thinks else OUTPUT_TOKENS
        reply, begun = ProbeReply(budget=budget, caps=frozenset(self._caps)), time.monotonic()
        try:
            async with asyncio.timeout(loading or seconds) as limit:
                async with aclosing(self._answer(question, reply.budget)) as batches:
                    async for batch in batches:
                        if not reply.first:
                            reply.first = max(time.monotonic() - begun, 1e-6)
                            if loading:
                                limit.reschedule(asyncio.get_running_loop().time() + seconds)
                        for event in batch:
                            reply.take(event)
        except TimeoutError:
            code = "no_whole_answer" if reply.first else "no_answer_in_time"
            reply.failed = Failed("timeout", sentence(code, seconds=round(time.monotonic() - begun)))
        reply.seconds = time.monotonic() - begun
        return reply

    def _answer(self, question: ProbeRequest, budget: int) -> AsyncGenerator[list[Event], None]:
        return exchange.ask(self.subject.endpoint, self._request_spec(question, budget), question.messages)

    def _request_spec(self, question: ProbeRequest, budget: int) -> RequestSpec:
        """Build the spec: apart from the prompt it matches an ordinary request, so the model is not reloaded."""
        base = self.subject.request_spec
        return replace(
            base,
            tools=question.tools,
            format=question.format if question.tools else "",
            stream=question.streamed,
            think=question.think if question.think is not None else base.think,
            options={**base.options, "num_predict": budget, "temperature": 0.0},
            permit=Permit.PROBE,
            schema=question.schema,
        )

    def request(self, question: ProbeRequest) -> Request:
        """Return the request that a prompt would send."""
        return exchange.first_request(self._request_spec(question, OUTPUT_TOKENS), question.messages)
