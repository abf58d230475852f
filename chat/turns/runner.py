"""Claims turns, keeps them alive, stops them: the owner of every task of the chat in this process."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from channels.db import database_sync_to_async as in_database
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError

from chat.broadcast import fragments, frames, turn_end_frames
from chat.broadcast.model_watcher import ModelWatcher
from chat.broadcast.other_processes import PeerBroadcaster
from chat.broadcast.outbox import Close, PageSocket, Send, SocketRegistry
from chat.broadcast.socket_revocation import SocketRevocation
from chat.broadcast.turn_end_frames import ENDS, MISTAKE, NOT_KEPT_YET, NOT_WRITTEN
from chat.transcript.people.person import kept_out, person
from chat.transcript.questions import questions
from chat.transcript.questions.unknown_model import ModelChoiceNotice
from chat.transcript.settings import turn_settings
from chat.transcript.turns import lifecycle, process_lists, regenerate, repeat_call, requested_call
from chat.turns.batch_writer import BatchWriter
from chat.turns.events import TurnEnded
from chat.turns.run import TurnRun
from toolsupport.config import metrics
from toolsupport.core.errors import Busy, Lost
from toolsupport.registry.people.permissions import Action

log = logging.getLogger(__name__)

# Text is to be on the disk half a second after it came: a tenth of that is for writing it.
TICK = 0.4
PAUSE_PER_RUN, LONGEST_PAUSE = 0.0002, 0.030
TICKS_PER_HEARTBEAT = 4
SWEEP = LOOK = 1.0


class TurnRunner:
    """One for each process. Everything it owns ends with `stop`."""

    def __init__(self) -> None:
        self.owner = uuid.uuid4().hex
        self.listeners = SocketRegistry()
        self.doorman = SocketRevocation()
        self.clerk = BatchWriter(self.spawn)
        self.watcher = ModelWatcher(self.listeners, self.tell)
        self.runs: dict[int, TurnRun] = {}
        self.accepting = True
        self.elsewhere: PeerBroadcaster | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._why: dict[int, str] = {}
        self._others: set[asyncio.Task[Any]] = set()
        self._ticks = 0
        self._cannot_write = False

    def start(self) -> None:
        """Begin to keep turns alive; needs the running event loop."""
        metrics.SOCKETS.set_function(self.listeners.count)
        metrics.RUNNING.set_function(lambda: len(self.runs))
        self._loop = asyncio.get_running_loop()
        self.spawn(self._every(TICK, self._tick))
        self.spawn(self._every(SWEEP, self._sweep))
        self.spawn(self.doorman.watch())
        self.spawn(self._every(LOOK, self.watcher.look))
        if settings.ENV["REDIS_URL"]:
            self.elsewhere = PeerBroadcaster(self.owner, self)
            self.elsewhere.start(self.spawn)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """A supervised task with a context of its own: a request's database handles must not leak into it."""
        task = asyncio.get_running_loop().create_task(work, context=contextvars.Context())
        self._others.add(task)
        task.add_done_callback(self._over)
        return task

    def _over(self, task: asyncio.Task[Any]) -> None:
        self._others.discard(task)
        # Nobody else may be waiting for it: what it died of would never be known.
        if not task.cancelled() and (error := task.exception()) is not None and not isinstance(error, Lost):
            log.error("a task of the chat ended by a mistake", exc_info=error)

    async def drain(self, seconds: float) -> None:
        """Take nothing new, let running turns finish for so long, then interrupt the rest."""
        self.accepting = False
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=seconds)
        for turn_id in list(self._tasks):
            self._cancel(turn_id, "interrupted")
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=5)

    async def stop(self) -> None:
        """End everything this process owns at once."""
        await self.drain(0)
        if self.elsewhere is not None:
            await self.elsewhere.relay.close()
        for task in list(self._others):
            task.cancel()
        await asyncio.gather(*self._others, return_exceptions=True)

    def listen(self, conversation: str, send: Send, close: Close) -> tuple[PageSocket, asyncio.Task[Any]]:
        """Add an open page; its pump is owned here and ends with `forget`. `close` is for one too far behind."""
        socket = PageSocket(send, self._pause, lambda: self.spawn(close()))
        self.listeners.add(conversation, socket)
        return socket, self.spawn(socket.pump())

    def _pause(self) -> float:
        """Seconds for which deltas gather before the next frame: none while little runs, 30 ms at 150 answers."""
        return min(LONGEST_PAUSE, len(self.runs) * PAUSE_PER_RUN)

    def forget(self, conversation: str, socket: PageSocket, pump: asyncio.Task[Any]) -> None:
        self.listeners.remove(conversation, socket)
        pump.cancel()
        if self.elsewhere is not None and not self.listeners.has(conversation):
            self.spawn(self.elsewhere.relay.leave(conversation, lambda: self.listeners.has(conversation)))

    def tell(self, conversation: str, frame: frames.ServerFrame) -> None:
        """Hand a frame to every page of the conversation, here and in other processes."""
        self.listeners.tell(conversation, frame)
        if self.elsewhere is not None:
            self.elsewhere.tell(conversation, frame)

    def say(self, conversation: str, said: ModelChoiceNotice) -> None:
        """Show a notice that stands in the rows already."""
        notice, model = said.notice, asdict(said.model) if said.model else None
        self.tell(
            conversation, frames.NoticeFrame(said.seq, notice.code, notice.text, fragments.message(notice), model)
        )

    def check_room(self) -> None:
        """Raises Busy when this process cannot take another turn."""
        most = settings.ENV["TOOLSUPPORT_RUNNING_TURNS"]
        if not self.accepting:
            raise Busy("The server is stopping; it will be back in a moment.", "stopping")
        if len(self._tasks) >= most:
            raise Busy(f"{most} answers are running already, the most this server takes at once.", "process")

    async def accept(self, user_id: int, conversation: str, sent: lifecycle.SentMessage) -> lifecycle.AcceptedMessage:
        """Keep a message, tell it to the pages, begin its answer. Raises NotFound, NotAllowed, Busy, ConfigError."""
        self.check_room()
        accepted = await self.clerk.write(conversation, lambda: self._accept(user_id, conversation, sent))
        self.tell_end(*accepted.ended)
        if not accepted.repeated:
            self._show(accepted, conversation, "user")
        if accepted.claimed is not None:
            self._begin(accepted)
        return accepted

    def _show(self, accepted: lifecycle.AcceptedMessage, conversation: str, role: str) -> None:
        """Tell the pages of the message that a turn begins with."""
        shown, turn = accepted.message, accepted.turn
        html = fragments.message(shown)
        self.tell(conversation, frames.MessageStartedFrame(accepted.seq, shown.id, shown.parent, role, turn, html))

    def _accept(self, user_id: int, conversation: str, sent: lifecycle.SentMessage) -> lifecycle.AcceptedMessage:
        """In the database's thread."""
        return lifecycle.accept(person(user_id, Action.CHAT), conversation, sent, self.owner)

    async def answer_again(
        self, user_id: int, conversation: str, wish: regenerate.ContinueRequest | regenerate.RegenerateRequest
    ) -> lifecycle.AcceptedMessage:
        """Begin an answer to what was asked before. Raises NotFound, NotAllowed, Busy, ConfigError."""
        self.check_room()
        accepted = await in_database(self._answer_again)(user_id, conversation, wish)
        self.tell_end(*accepted.ended)
        if accepted.claimed is not None:
            self._begin(accepted)
        return accepted

    def _answer_again(
        self, user_id: int, conversation: str, wish: regenerate.ContinueRequest | regenerate.RegenerateRequest
    ) -> lifecycle.AcceptedMessage:
        return regenerate.accept(person(user_id, Action.CHAT), conversation, wish, self.owner)

    async def repeat(
        self, user_id: int, conversation: str, wish: repeat_call.RepeatRequest | requested_call.CallRequest
    ) -> lifecycle.AcceptedMessage:
        """Let a call run: a finished one again, or a program's. Raises NotFound, NotAllowed, Busy, ConfigError."""
        self.check_room()
        accepted = await in_database(lambda: wish.begin(person(user_id, Action.CHAT), conversation, self.owner))()
        self.tell_end(*accepted.ended)
        if accepted.claimed is not None:
            self._show(accepted, conversation, "assistant")
            self._begin(accepted)
        return accepted

    async def wake(self, turn_id: int) -> None:
        """Claim a queued turn that nobody else has begun, and run it."""
        accepted = await in_database(lifecycle.claim)(turn_id, self.owner)
        if accepted is not None:
            self._begin(accepted)

    def _begin(self, accepted: lifecycle.AcceptedMessage) -> None:
        """Run a turn this process owns, beside whoever asked for it."""
        claimed = accepted.claimed
        assert claimed is not None
        run = TurnRun(accepted, turn_settings.tool_context(claimed.conversation, claimed.person))
        self.runs[claimed.turn] = run
        task = self._tasks[claimed.turn] = self.spawn(self._run(run, accepted.seq + 1))
        task.add_done_callback(lambda _: self._tasks.pop(claimed.turn, None))

    async def answer(
        self, user_id: int, question_id: int, given: questions.SubmittedAnswer
    ) -> questions.ClosedQuestion:
        """Answer a question; the turn that waited for it goes on here. Raises NotFound, Conflict, ValueError."""
        closed = await in_database(self._answer)(user_id, question_id, given)
        await self.go_on(closed)
        return closed

    def _answer(self, user_id: int, question_id: int, given: questions.SubmittedAnswer) -> questions.ClosedQuestion:
        return questions.answer(person(user_id, Action.DECIDE_FOR_CHAT), question_id, given)

    async def go_on(self, closed: questions.ClosedQuestion) -> None:
        """Tell that a question is closed and what that led to, and claim the turn that waited for it."""
        if closed.said is not None:
            self.say(closed.conversation, closed.said)
        frame = frames.QuestionClosedFrame(closed.seq, closed.question, closed.answer, closed.by)
        self.tell(closed.conversation, frame)
        if closed.turn is not None and self.accepting:
            await self.wake(closed.turn)

    def nudge(self, closed: questions.ClosedQuestion) -> None:
        """The same from another thread, such as a page's. Where no runner runs here, one elsewhere finds the row."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(lambda: self.spawn(self.go_on(closed)))

    def request_stop(self, turn_id: int) -> None:
        """Stop a turn if this process runs it; another process reads the request from the row."""
        self._cancel(turn_id, "stopped")

    def live(self, message_id: int) -> TurnRun | None:
        """The run that writes this message at the moment, here."""
        return next((run for run in self.runs.values() if run.message == message_id), None)

    def growing(self, conversation: str) -> list[frames.ServerFrame] | None:
        """The whole so far of what is being written in a conversation here; None where no turn runs here."""
        run = next((run for run in self.runs.values() if run.claimed.conversation == conversation), None)
        return run.so_far() if run else None

    def stop_call(self, conversation: str, call_id: str) -> bool:
        """Stop one running tool of a conversation, if it runs here; its turn goes on."""
        here = [run for run in self.runs.values() if run.claimed.conversation == conversation]
        return any(run.stop_call(call_id) for run in here)

    def _cancel(self, turn_id: int, why: str) -> None:
        if turn_id in self._tasks and turn_id not in self._why:
            self._why[turn_id] = why
            self._tasks[turn_id].cancel()

    async def _run(self, run: TurnRun, seq: int) -> None:
        claimed, brief = run.claimed, run.claimed.briefing.brief
        names = [tool.name for tool in brief.tools]
        try:
            self.tell(
                claimed.conversation, frames.TurnStartedFrame(seq, claimed.turn, claimed.model, brief.format, names)
            )
            await run.perform(lambda frame: self.tell(claimed.conversation, frame), self.spawn)
            if not run.parked:
                ended = run.ended or TurnEnded("failed", MISTAKE)
                await self._end(run, ended.reason, ended.detail)
        except asyncio.CancelledError:
            why = self._why.get(claimed.turn)
            if why is None:
                raise
            await self._end(run, *ENDS[why])
        except Lost:
            await self._end(run, *ENDS["lost"])
        except DatabaseError as error:
            log.error("turn %s could not be written down: %s", claimed.turn, error)
            await self._end(run, "failed", NOT_WRITTEN)
        except Exception:
            log.exception("turn %s failed", claimed.turn)
            await self._end(run, "failed", MISTAKE)
        finally:
            self.runs.pop(claimed.turn, None)
            self._why.pop(claimed.turn, None)

    async def _end(self, run: TurnRun, reason: str, detail: str) -> None:
        """Write the end and tell it. Not to be cancelled: a stop that is stopped would leave a turn open."""
        metrics.TURNS.labels(reason).inc()
        if reason == "lost":
            log.warning("turn %s was taken from this process, which stopped it", run.claimed.turn)
            self.spawn(self._show_rows(run.claimed.conversation))
            return
        reply = run.last_reply() if run.message else None
        outcome = lifecycle.TurnOutcome(reason, detail, run.usage, reply, run.tally.taken())
        await asyncio.shield(self.spawn(self._write_end(run, outcome)))

    async def _show_rows(self, conversation: str) -> None:
        """Let the pages here fetch what another process wrote instead of what they were shown."""
        for tail, turn in (await in_database(process_lists.standings)([conversation])).values():
            self.listeners.tell(conversation, frames.TailFrame(tail, turn))

    async def _write_end(self, run: TurnRun, outcome: lifecycle.TurnOutcome) -> None:
        turn = run.claimed.turn
        while True:
            try:
                ended = await self.clerk.write(conversation, lambda: lifecycle.end(self.owner, turn, outcome))
                break
            except (OperationalError, InterfaceError) as error:
                # Kept alive until the database takes it; what it would never take is no reason to wait.
                self._complain(error)
                await asyncio.sleep(TICK)
        if ended is not None:
            self.tell_end(ended)
        else:
            await self._show_rows(conversation)

    def _complain(self, error: Exception) -> None:
        """Tell, once, the pages of running answers that these are not written down at the moment."""
        if self._cannot_write:
            return
        self._cannot_write = True
        log.error("running answers cannot be written down, trying again: %s", error)
        for run in self.runs.values():
            self.tell(run.claimed.conversation, frames.ErrorFrame("storage", NOT_KEPT_YET))

    def tell_end(self, *ended: lifecycle.EndedTurn) -> None:
        """Show how turns ended."""
        for each in ended:
            for frame in turn_end_frames.frames_of(each):
                self.tell(each.conversation, frame)

    async def _every(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        """Do it again and again. Ends only by being cancelled."""
        now = asyncio.get_running_loop().time
        due = now()
        while True:
            # By the clock, not after the last time: how long a write takes must not make text wait for longer.
            due = max(due + seconds, now())
            await asyncio.sleep(due - now())
            try:
                await work()
            except DatabaseError as error:
                self._complain(error)
            except Exception:
                log.exception("the heartbeat of the running answers failed; it goes on")

    async def _tick(self) -> None:
        """Write what grew, renew leases, hear stop requests."""
        self._ticks += 1
        await self._keep_alive(everyone=self._ticks % TICKS_PER_HEARTBEAT == 0)

    async def _keep_alive(self, everyone: bool) -> None:
        grown = [run for run in self.runs.values() if run.message and (run.text.grew or run.thinking.grew)]
        held = list(self.runs) if everyone else [run.claimed.turn for run in grown]
        if not self.runs:
            self._cannot_write = False
        if not held:
            return
        texts = [(run.message, run.text.text, run.thinking.text) for run in grown]
        lengths = [(live, live.length) for run in grown for live in (run.text, run.thinking)]
        pulse = await in_database(lifecycle.keep_alive)(self.owner, held, texts)
        # Only now: what could not be written is tried again at the next tick.
        self._cannot_write = False
        for live, length in lengths:
            live.written = max(live.written, length)
        for turn_id in pulse.lost:
            self._cancel(turn_id, "lost")
        for turn_id in pulse.stop:
            self._cancel(turn_id, "stopped")

    async def _sweep(self) -> None:
        """Close what nobody answered, settle what others left, stop what its person may not have any more."""
        for turn_id in await in_database(kept_out)(list(self.runs)) if self.runs else ():
            self._cancel(turn_id, "kept_out")
        for closed in await in_database(questions.expire)():
            await self.go_on(closed)
        ended, queued = await in_database(lifecycle.settle)(list(self.runs))
        self.tell_end(*ended)
        for turn_id in queued if self.accepting else []:
            await self.wake(turn_id)


_runner: TurnRunner | None = None


def current() -> TurnRunner:
    """This process's runner, made at the first call. `asgi.start` starts it, `asgi.stop` ends it."""
    global _runner
    if _runner is None:
        _runner = TurnRunner()
    return _runner


async def shut_down(seconds: float) -> None:
    """Drain, then forget this process's runner (a later start makes a new one)."""
    global _runner
    if _runner is not None:
        await _runner.drain(seconds)
        with suppress(asyncio.CancelledError):
            await _runner.stop()
        _runner = None
