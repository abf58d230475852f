"""One turn that this process runs: its events become rows, then frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import asdict, replace
from typing import Any

from chat.broadcast import frames
from chat.broadcast.announcement_frames import frame_of
from chat.statuses import CallStatus, TurnStatus
from chat.tools import tool_search
from chat.tools.policy import CallOutcome
from chat.tools.tool import ToolContext
from chat.transcript.announcements import Announcement, Announcements, Thing
from chat.transcript.messages import formatted, history, present
from chat.transcript.messages.raw_exchanges import PreparedExchanges, prepared
from chat.transcript.questions import questions
from chat.transcript.turns import found_tools, record
from chat.transcript.turns.begin import ClaimedTurn
from chat.turns import loop, tool_discovery
from chat.turns.context_recovery import ContextRecovery
from chat.turns.events import (
    ApprovalNeeded,
    CallMade,
    RefusalInText,
    RoundEnded,
    RoundStarted,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnEvent,
    joined,
)
from chat.turns.failure_recovery import RECOVERED, FormatRecovery
from chat.turns.lasting_writes import in_database
from chat.turns.live_blocks import html_of
from chat.turns.live_output import LiveOutput
from chat.turns.live_reply import LiveReply, SendFrame
from chat.turns.model_takeover import ModelTakeover
from chat.turns.silence_report import SilenceReport
from chat.turns.tool_executor import Spawn, ToolExecutor
from chat.turns.turn_trace import TurnTrace
from toolsupport import loop_share, signature_memory
from toolsupport.core import format_choice
from toolsupport.core.events import (
    CallDelta,
    CallFound,
    CallGarbled,
    CallReady,
    CallRejected,
    Event,
    TextDelta,
    TextReclassified,
    ThinkingDelta,
    ToolsRefused,
    Usage,
)
from toolsupport.core.formats import FORMATS
from toolsupport.core.prompt import token_counts
from toolsupport.core.types import ChatMessage
from toolsupport.core.weak_methods import weak
from toolsupport.providers.exchange_recorder import HEAD, TAIL
from toolsupport.registry.metrics.call_tally import CallTally
from toolsupport.registry.models.request_context import RequestContext

# Of constrained retries: tools that are kept of one answer, and characters of their names.
MOST_SHOWN, LONGEST_NAME = 12, 64


class TurnRun:
    """Runs one claimed turn. `tell` sends a frame to the pages, `spawn` starts a task that the runner owns."""

    def __init__(self, claimed: ClaimedTurn, context: ToolContext, tell: SendFrame) -> None:
        self.claimed, self._tell = claimed, tell
        self.store = self.claimed.store
        self.prepared: RequestContext = self.claimed.prepared
        self.output = LiveOutput(tell)
        self.executor = ToolExecutor(self.claimed, replace(context, say=self.output.say))
        self.executor.written = self.output.written
        self.trace = TurnTrace(claimed, self.executor)
        self.parked = False
        self.tally = CallTally()
        self._uses = weak(self._go_on_by), weak(self._announce)
        self.cures = ContextRecovery(self.claimed, *self._uses)
        self.recovery = FormatRecovery(self.claimed, *self._uses)
        self.takeover = ModelTakeover(claimed, self.tally, weak(self._take_over), weak(self._announce))
        # The first reply was written with the turn; later ones are written when their round begins.
        self.reply = LiveReply(tell, claimed.reply, claimed.person)
        self._prepared = bool(claimed.reply)
        self.usage: dict[str, Any] = {}
        self.ended: TurnEnded | None = None
        self._asked: list[record.RequestedCall] = []
        self._unreadable: list[str] = []
        self._formatted: tuple[str, str | None] = "", ""

    async def perform(self, spawn: Spawn) -> None:
        """Run to the end, or until a person is needed; afterwards `ended` or `parked` is set.

        Cancelling it closes the connection to the server.
        """
        self.executor.spawn = self.reply.spawn = spawn
        formatted.get_ready()
        state = self._state()
        await self._search_first()
        if state.pause is not None:
            await self._tool_started(ToolStarted(loop.called(state.pending[0])))
        try:
            while self.ended is None and not self.parked:
                async with aclosing(loop.advance(state, self._ask, self.executor)) as batches:
                    async for batch in batches:
                        for event in joined(batch):
                            if type(event) is TextDelta:  # most are, and nothing waits for one
                                self.reply.add_text(event)
                            else:
                                await self._handle(event)
        finally:
            # The last output of a stopped tool must not appear after the end of its turn.
            self.output.end()

    def _state(self) -> loop.TurnState:
        """Return the initial state of the turn, or its state after waiting."""
        resumed = self.claimed.resumed
        if resumed is None:
            return loop.TurnState(list(self.claimed.history))
        self.reply.message, self.usage = resumed.message, dict(resumed.usage)
        return loop.TurnState(
            list(self.claimed.history),
            rounds=resumed.rounds,
            calls_only=resumed.calls_only,
            pause=resumed.pause,
            calls=Counter(loop.fingerprint_of(call) for call in resumed.done),
            pending=[
                CallFound(call, "", "") if call.id in resumed.in_prose else CallReady(call) for call in resumed.pending
            ],
        )

    async def _search_first(self) -> None:
        """Search tools by the text of a new conversation, on a card that its model does not read."""
        search = await tool_discovery.first_search(self.claimed)
        if search is None:
            return
        call = search.call
        await self._round_started(RoundStarted(0))
        reply = record.FinishedReply("", "", None, (record.automatic(call, tool_search.TOOL.level),))
        self._announce(await in_database(record.finish_reply)(self.store, self.reply.message, reply))
        await self._tool_started(ToolStarted(call))
        finished = ToolFinished(call, search.result, CallStatus.DONE, search.duration_ms)
        await self._tool_finished(finished, read=False)

    def _ask(self, history: Sequence[ChatMessage]) -> AsyncGenerator[list[Event], None]:
        return self.takeover.answered(self._ask_model, history) if self.takeover.able else self._ask_model(history)

    def _ask_model(self, history: Sequence[ChatMessage]) -> AsyncGenerator[list[Event], None]:
        self.recovery.asking(self.prepared, history)
        report = SilenceReport(self.claimed.turn, self.prepared, self._tell)
        return report.passed_on(self.cures.ask(self.prepared, history), self.executor.spawn)

    async def _approval_needed(self, event: ApprovalNeeded) -> None:
        """Ask a person and let the turn wait in rows; if the call is impossible, give the model the reason."""
        asking = await self.executor.asking(event)
        if asking is None:
            return
        announced = await in_database(self._park)(asking)
        if not announced:
            self.ended = TurnEnded(TurnStatus.STOPPED, "by_you")
            return
        self.parked = True
        self._announce(*announced)

    def _park(self, asking: questions.ApprovalRequest) -> Announcements:
        run = record.run_of(self.claimed.turn, asking.call.id)
        return questions.park(self.store, run, asking, questions.TurnUsage(self.usage, self.tally.taken()))

    def so_far(self) -> list[frames.ServerFrame]:
        """Return all growing text, for a page that missed a piece of it."""
        output = self.output.whole()
        return [*self.reply.whole(), *([output] if output is not None else ())]

    def last_reply(self) -> tuple[int, str, str, int | None]:
        """Return the message being written: (id, text, thinking, thinking_ms)."""
        reply = self.reply
        return reply.message, reply.text.text, reply.thinking.text, reply.thinking_ms

    async def exchanges(self) -> PreparedExchanges:
        """The requests that were made since the last message, with their raw replies, ready to be kept."""
        taken = self.cures.recorder.taken()
        size = sum(len(one.body) + min(one.size, HEAD + TAIL) for one in taken)
        return await loop_share.apart(lambda: prepared(taken), size) if taken else ()

    async def html(self) -> str | None:
        """Return the message being written as HTML, as it will be shown; None if that takes too long."""
        shown = present.readable(self.reply.text.text, self._unreadable)
        if self._formatted[0] != shown:
            blocks = self.reply.blocks if shown == self.reply.text.text else None
            self._formatted = shown, await html_of(self.claimed.person, shown, blocks)
        return self._formatted[1]

    def stop_call(self, call_id: str) -> bool:
        """Stop the running tool if it is this one; the turn continues."""
        return self.executor.stop(call_id)

    def _announce(self, *announced: Announcement[Thing]) -> None:
        """Announce the stored rows to the pages."""
        for each in announced:
            self._tell(frame_of(each))

    async def _handle(self, event: TurnEvent) -> None:
        self.trace.take(event)
        handler = HANDLERS.get(type(event))
        if handler is not None:
            await handler(self, event)

    async def _round_started(self, event: RoundStarted) -> None:
        self.reply.begin()
        self._unreadable.clear()
        if self._prepared:
            self._prepared = False
            return
        started = await in_database(record.start_reply)(self.store, self.executor.outside)
        self.reply.message = started.thing.message.id
        self._announce(started)

    async def _streamed(self, event: TextDelta | ThinkingDelta | TextReclassified | CallDelta) -> None:
        STREAMED[type(event)](self.reply, event)

    async def _recover(self, event: Event) -> None:
        await RECOVERED[type(event)](self.recovery, self.prepared, event)

    async def _call_ready(self, event: CallReady | CallFound) -> None:
        in_prose = isinstance(event, CallFound)
        signature_memory.keep(history.place_of(self.claimed.turn, event.call), event.call)
        served = self.executor.serve(event.call)
        format_ = event.format if isinstance(event, CallFound) else self.recovery.written_in(self.prepared)
        level = self.executor.level_of(served)
        self._count(event)
        self._asked.append(record.RequestedCall(event.call, format_, level, event.raw, in_prose, served=served))

    async def _call_made(self, event: CallMade) -> None:
        """Show a program's call on a card of its own, inside that of the program."""
        program, inner = int(self.executor.cards[-1]), event.asked
        self.tally.inside(inner, format_choice.CODE)
        if isinstance(inner, CallRejected):
            await self._reject(replace(_rejection(inner), program=program))
            return
        served = self.executor.serve(inner.call)
        level = self.executor.level_of(served)
        made = record.RequestedCall(inner.call, format_choice.CODE, level, program=program, served=served)
        await in_database(record.made_inside)(self.store, self.reply.message, made)

    def _count(self, event: CallReady | CallFound | CallRejected) -> None:
        self.recovery.count(event)
        self.tally.received(event, self.recovery.written_in(self.prepared))

    async def _rejected(self, event: CallRejected) -> None:
        self._count(event)
        format_ = self.recovery.written_in(self.prepared) if event.fault == "unreadable" else ""
        if format_ in FORMATS:
            self._unreadable.append(event.raw)
        rejection = _rejection(event)
        await self._reject(replace(rejection, format=format_, suggestion=event.suggestion))

    async def _reject(self, rejection: record.CallRejection) -> None:
        self._announce(await in_database(record.reject_call)(self.store, self.reply.message, rejection))

    async def _garbled(self, event: CallGarbled) -> None:
        """Drop the calls of an attempt that the model repeats, so that they do not run twice."""
        self.tally.received(event, self.prepared.request_spec.format)
        self._asked.clear()
        self.reply.forget_calls()

    async def _refused(self, event: ToolsRefused) -> None:
        if not event.misconfigured:
            self.tally.received(event, self.prepared.request_spec.format)
        await self.recovery.refused(self.prepared, event)

    async def _refused_in_words(self, _: RefusalInText) -> None:
        await self.recovery.refused_in_words(self.prepared)

    def _go_on_by(self, prepared: RequestContext) -> None:
        self.prepared = prepared
        self.executor.take(prepared)

    def _take_over(self, claimed: ClaimedTurn) -> None:
        """Continue with another model: findings about the former one do not apply to it."""
        recorder = self.cures.recorder
        self.claimed = self.executor.claimed = claimed
        self.cures = ContextRecovery(claimed, *self._uses)
        self.cures.recorder = recorder
        self.recovery = FormatRecovery(claimed, *self._uses)
        self._go_on_by(claimed.prepared)

    async def _round_ended(self, event: RoundEnded) -> None:
        self.reply.end()
        if not event.last:
            calls, self._asked = tuple(self._asked), []
            message, text, thinking, thinking_ms = self.last_reply()
            exchanges, html = await self.exchanges(), await self.html()
            whole = record.FinishedReply(text, thinking, thinking_ms, calls, exchanges, html)
            finished = await in_database(record.finish_reply)(self.store, message, whole)
            self.reply.mark_written()
            self._announce(finished)
        self.tally.replied(self.reply.took_ms)
        if not event.last:
            self._constrained(await self.recovery.replied(self.prepared))

    def _constrained(self, tool: str) -> None:
        """Keep the tool of a call that is requested again under a schema: the figures of the answer show it."""
        if tool and len(self.usage.get("constrained", ())) < MOST_SHOWN:
            self.usage["constrained"] = [*self.usage.get("constrained", ()), tool[:LONGEST_NAME]]

    async def _tool_started(self, event: ToolStarted) -> None:
        started = await in_database(record.start_call)(self.store, event.call.id)
        card = started.thing.call.id
        self.executor.cards.append(card)
        self.output.begin(self.reply.message, card)
        self._announce(started)

    async def _tool_finished(self, event: ToolFinished, read: bool = True) -> None:
        """Store a result; `read`: the model gets it."""
        self.output.end()
        run = int(self.executor.cards.pop())
        outcome = CallOutcome(event.status, event.result, event.duration_ms)
        finished = await in_database(record.close_call)(self.store, run, outcome)
        # The output of a failed or stopped tool is outside content too.
        if event.status not in (CallStatus.DENIED, CallStatus.REJECTED):
            if read:
                self.executor.finished(event.call)
            await self._refresh_request(self.executor.runs_as(event.call).name)
        self._announce(finished)

    async def _refresh_request(self, name: str) -> None:
        """Use the tools and the system prompt that a tool changed for the next request."""
        tool = self.executor.tools.get(name)
        if tool is not None and tool.retold:
            self._go_on_by(await in_database(found_tools.prepared)(self.claimed.turn))

    async def _used(self, event: Usage) -> None:
        self.tally.used(event.output_tokens or 0)
        limit = token_counts.context_tokens(self.prepared.request_spec)
        self.executor.cut = await self.cures.used(self.prepared, event)
        for name, value in asdict(event).items():
            if value is not None:
                self.usage[name] = self.usage.get(name, 0) + value
        # Each round repeats what came before it: the last one shows how full the context is.
        self.usage["context_tokens"] = (event.prompt_tokens or 0) + (event.output_tokens or 0)
        self.usage["context_limit"] = limit

    async def _turn_ended(self, event: TurnEnded) -> None:
        self.ended = event
        if event.reason != TurnStatus.FAILED:
            await self.recovery.answered(self.prepared)


HANDLERS: dict[type, Callable[[TurnRun, Any], Any]] = {
    RoundStarted: TurnRun._round_started,
    TextDelta: TurnRun._streamed,
    ThinkingDelta: TurnRun._streamed,
    TextReclassified: TurnRun._streamed,
    **dict.fromkeys(RECOVERED, TurnRun._recover),
    CallDelta: TurnRun._streamed,
    CallReady: TurnRun._call_ready,
    CallFound: TurnRun._call_ready,
    CallRejected: TurnRun._rejected,
    ToolsRefused: TurnRun._refused,
    CallGarbled: TurnRun._garbled,
    RoundEnded: TurnRun._round_ended,
    RefusalInText: TurnRun._refused_in_words,
    CallMade: TurnRun._call_made,
    ToolStarted: TurnRun._tool_started,
    ToolFinished: TurnRun._tool_finished,
    ApprovalNeeded: TurnRun._approval_needed,
    Usage: TurnRun._used,
    TurnEnded: TurnRun._turn_ended,
}

STREAMED: dict[type, Callable[[LiveReply, Any], None]] = {
    TextDelta: LiveReply.add_text,
    ThinkingDelta: LiveReply.add_thinking,
    TextReclassified: LiveReply.reclassify,
    CallDelta: LiveReply.add_call_piece,
}


def _rejection(event: CallRejected) -> record.CallRejection:
    return record.CallRejection(event.id, event.name, event.reason, event.raw, fault=event.fault)
