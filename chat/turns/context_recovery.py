"""Makes requests fit into the model's context, with notices for people."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from chat.sentences import sentence
from chat.transcript.announcements import AddedNotice, Announcement
from chat.transcript.turns import context_findings, record
from chat.transcript.turns.begin import ClaimedTurn
from chat.turns.lasting_writes import in_database
from toolsupport import exchange
from toolsupport.core import context_overflow, load_failures
from toolsupport.core.events import Event, Failed, Usage
from toolsupport.core.prompt import context_fitting, token_counts
from toolsupport.core.prompt.context_fitting import ContextWindow, OmitTools
from toolsupport.core.types import ChatMessage
from toolsupport.providers.exchange_recorder import ExchangeRecorder
from toolsupport.registry.models.request_context import RequestContext
from toolsupport.services import context_guard, exact_counts, passive_health_checks
from toolsupport.services.context_guard import ContextGuard

UseContext = Callable[[RequestContext], None]
Announce = Callable[[Announcement[AddedNotice]], None]


class ContextRecovery:
    """The recovery of one turn. `take` receives the new request context, `announce` the notices for its pages.

    `recorder` holds the requests with their raw replies. A removed tool stays out until the turn is over, even if it
    is found again meanwhile.
    """

    def __init__(self, claimed: ClaimedTurn, take: UseContext, announce: Announce) -> None:
        self._claimed, self._store = claimed, claimed.store
        self._take, self._announce = take, announce
        self._guard = ContextGuard()
        self._gone: tuple[str, ...] = ()
        self._uncounted = False  # the server could not count this request
        self.recorder = ExchangeRecorder()

    async def ask(self, prepared: RequestContext, history: Sequence[ChatMessage]) -> AsyncGenerator[list[Event], None]:
        """Yield the events of an answer; if the model failed to load with its context, retry with the previous one."""
        asked: RequestContext | None = prepared
        while asked is not None:
            prepared, asked = await self._made_to_fit(asked, history), None
            self._take(prepared)
            self._guard.asked(prepared, history)
            silent = True
            answer = exchange.ask(prepared.endpoint, prepared.request_spec, history, self.recorder)
            async with aclosing(passive_health_checks.watched(prepared.watch, answer)) as batches:
                async for batch in batches:
                    failed = batch[-1] if isinstance(batch[-1], Failed) else None
                    asked = await self._asked_again(prepared, failed) if silent and failed else None
                    silent = False
                    if asked is None:
                        yield [*batch[:-1], _with_numbers(prepared, failed)] if failed else batch

    async def used(self, prepared: RequestContext, usage: Usage) -> bool:
        """Store the count after an answer. Returns True after a truncation, which is remedied with a notice."""
        if self._guard.cut(prepared, usage):
            await self._cut(prepared)
            return True
        if self._guard.dropped_tools(prepared, usage):
            await self._say("tools_dropped", prepared.window, {"counted": f"{usage.prompt_tokens:,}"}, once=True)
        new_count = self._guard.new_count(prepared, usage)
        if new_count is not None:
            digest = token_counts.tools_digest(prepared.request_spec)
            await in_database(context_findings.count_prompt)(self._store, prepared.build, digest, new_count)
            self._take(context_guard.learned(prepared, new_count))
        return False

    async def _made_to_fit(self, prepared: RequestContext, history: Sequence[ChatMessage]) -> RequestContext:
        if self._gone:
            prepared = await in_database(context_guard.without)(prepared, self._gone)
        prepared = await self._counted(prepared, history)
        while not context_guard.fits(prepared, history):
            todo = context_guard.remedy(prepared, history)
            if todo is None:
                await self._say("prompt_too_long", prepared.window, {}, once=True)
                break
            if isinstance(todo, OmitTools):
                prepared = await self._leave_out(prepared, todo.tools)
            else:
                prepared = await self._raise(prepared, todo.context, "context_raised")
        return prepared

    async def _counted(self, prepared: RequestContext, history: Sequence[ChatMessage]) -> RequestContext:
        """Store exact counts of a server that offers them, the first time that it gets these tools."""
        if self._uncounted or not exact_counts.wanted(prepared):
            return prepared
        found = await exact_counts.measured(prepared, history)
        self._uncounted = found is prepared.counts
        for digest, count in (
            (token_counts.tools_digest(prepared.request_spec), found.with_tools),
            ("", found.without),
        ):
            if count is not None and not self._uncounted:
                await in_database(context_findings.count_prompt)(self._store, prepared.build, digest, count)
        return replace(prepared, counts=found)

    async def _leave_out(self, prepared: RequestContext, names: tuple[str, ...]) -> RequestContext:
        self._gone += names
        await self._say("tools_no_room", prepared.window, {"tools": ", ".join(names)}, once=True)
        return await in_database(context_guard.without)(prepared, names)

    async def _cut(self, prepared: RequestContext) -> None:
        todo = self._guard.after_cut(prepared)
        if todo is None:
            await self._say("prompt_cut", prepared.window, {}, once=True)
        else:
            self._take(await self._raise(prepared, todo.context, "cut_raised"))

    async def _raise(self, prepared: RequestContext, context: int, code: str) -> RequestContext:
        window = await in_database(context_findings.raise_context)(self._store, prepared.window, context)
        await self._say(code, window, {"before": f"{prepared.window.given:,}"})
        return context_guard.within(prepared, window)

    async def _asked_again(self, prepared: RequestContext, event: Failed) -> RequestContext | None:
        """Return the retry after a failure that another context can remedy; None for others."""
        found = context_overflow.exceeded(event.status, event.body)
        todo = context_fitting.after_cut(prepared.window, found.prompt) if found else None
        if todo is not None:
            return await self._raise(prepared, todo.context, "context_raised")
        return await self._taken_back(prepared, event)

    async def _taken_back(self, prepared: RequestContext, event: Failed) -> RequestContext | None:
        """Return the retry after a failed load of the model; None for another failure."""
        why = load_failures.why(event)
        if not why:
            return None
        window = await in_database(context_findings.take_context_back)(self._store, prepared.window)
        if window is None:
            return None
        await self._say("context_taken_back", window, {"failed": f"{prepared.window.given:,}", "why": why.rstrip(".")})
        return context_guard.within(prepared, window)

    async def _say(self, code: str, window: ContextWindow, facts: dict[str, str], once: bool = False) -> None:
        """Add a notice; with `once`, only if the conversation does not have the same one already."""
        context = f"{window.given:,}" if window.given else sentence("unknown_number")
        help_ = context_overflow.help_for(self._claimed.prepared.endpoint.kind)
        facts = {"model": self._claimed.model, "context": context, "help": help_} | facts
        notice = await in_database(record.notice_of_context)(self._store, code, facts, once)
        if notice is not None:
            self._announce(notice)


def _with_numbers(prepared: RequestContext, event: Failed) -> Failed:
    """Return the failure of a too long request with both numbers and advice for its server."""
    found = context_overflow.exceeded(event.status, event.body)
    return replace(event, message=found.sentence(prepared.endpoint.kind)) if found else event
