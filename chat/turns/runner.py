"""Starts, claims and stops the turns of this process, and sends their announcements to its pages."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

from channels.db import database_sync_to_async as in_database
from django.conf import settings
from django.db import Error

from chat.broadcast import frames
from chat.broadcast.announcement_frames import frame_of
from chat.broadcast.cross_process_frames import PeerBroadcaster
from chat.broadcast.detection_progress import DetectionProgress
from chat.broadcast.page_sockets import Close, PageSocket, Send, SocketRegistry
from chat.broadcast.socket_revocation import SocketRevocation
from chat.statuses import TurnStatus
from chat.transcript.announcements import Announcement, Thing
from chat.transcript.conversations import pending_files
from chat.transcript.people.socket_permissions import person
from chat.transcript.questions import questions
from chat.transcript.questions.questions import ClosedQuestion, SubmittedAnswer
from chat.transcript.settings import turn_settings
from chat.transcript.turns import end
from chat.transcript.turns.begin import AcceptedMessage, ClaimedTurn, TurnBuilder, TurnRequest, begin, claim
from chat.turns.batch_writer import BatchWriter
from chat.turns.end_writer import EndWriter
from chat.turns.events import TurnEnded
from chat.turns.heartbeat import TICK, TurnHeartbeat
from chat.turns.left_turns import LeftTurns
from chat.turns.run import TurnRun
from toolsupport import cancellable_threads, loop_share
from toolsupport.config import environment, metrics
from toolsupport.core.errors import Busy, Lost, StorageUnavailable, ToolsupportError, UnreadableSecret
from toolsupport.registry import storage
from toolsupport.registry.people.permissions import Action
from toolsupport.services.task_supervisor import TaskSupervisor

log = logging.getLogger(__name__)

PAUSE_PER_RUN, LONGEST_PAUSE = 0.0002, 0.030
AT_ONCE, GATHERING_PER_RUN, LONGEST_GATHERING = 50, 0.0001, 0.015
SWEEP = LOOK = 1.0
CLEAR = 3600.0
WRITING_ENDS = 1.5  # seconds for the ends of interrupted turns, when the server stops; their HTML may take LAST_HTML
NOT_SAVED = "Cannot save right now: {}. Your message was not sent; try again when the notice is gone."
# Why an answer is ended from outside → the reason, and a code of sentences.ENDINGS.
ENDS = {
    "stopped": (TurnStatus.STOPPED, "by_you"),
    "kept_out": (TurnStatus.STOPPED, "owner_out"),
    "interrupted": (TurnStatus.INTERRUPTED, "shutdown"),
    "unsaved": (TurnStatus.INTERRUPTED, "unsaved"),
    "lost": ("lost", ""),
}


class TurnRunner:
    """The runner of one process. Everything it owns ends with `stop`."""

    def __init__(self) -> None:
        self.owner = uuid.uuid4().hex
        self.listeners = SocketRegistry()
        self.revocation = SocketRevocation()
        self.supervisor = TaskSupervisor("the chat", expected=(Lost,))
        self.writer = BatchWriter(self.spawn, self._gathering)
        self.watcher = DetectionProgress(self.listeners, self.announce)
        self.runs: dict[int, TurnRun] = {}
        self.accepting = True
        self.peers: PeerBroadcaster | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._why: dict[int, str] = {}
        self._ending: set[int] = set()
        self._left = LeftTurns()
        self.heartbeat = TurnHeartbeat(self)
        self.ends = EndWriter(self)

    def start(self) -> None:
        """Start the heartbeat; needs the running event loop."""
        metrics.SOCKETS.set_function(self.listeners.count)
        metrics.THREADS.set_function(cancellable_threads.count)
        metrics.RUNNING.set_function(lambda: len(self.runs))
        self._loop = asyncio.get_running_loop()
        beat = self.heartbeat
        clear = in_database(pending_files.clear_old)
        for seconds, work in ((TICK, beat.tick), (SWEEP, beat.sweep), (LOOK, self.watcher.look), (CLEAR, clear)):
            self.spawn(beat.every(seconds, work))
        self.spawn(self.revocation.watch())
        if settings.CHANNEL_LAYERS["default"]["BACKEND"] != environment.ONE_PROCESS:
            self.peers = PeerBroadcaster(self.owner, self)
            self.peers.start(self.spawn)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a supervised task; it ends with `stop`."""
        return self.supervisor.spawn(work)

    async def drain(self, seconds: float) -> None:
        """Accept no new turn, wait this long for running turns to finish, then interrupt the rest."""
        self.accepting = False
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=seconds)
        for turn_id in list(self._tasks):
            self.cancel(turn_id, "interrupted")
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=WRITING_ENDS)

    async def stop(self) -> None:
        """Stop everything this process owns at once."""
        if self.accepting:
            await self.drain(0)
        if self.peers is not None:
            await self.peers.relay.close()
        await self.supervisor.stop()

    def listen(self, conversation: str, send: Send, close: Close) -> tuple[PageSocket, asyncio.Task[Any]]:
        """Add an open page; its pump is owned here and ends with `forget`. `close` ends one too far behind."""
        socket = PageSocket(send, self._pause, lambda: self.spawn(close()))
        self.listeners.add(conversation, socket)
        return socket, self.spawn(socket.pump())

    def _pause(self) -> float:
        """Return the seconds to collect deltas before the next frame: none under low load, 30 ms at 150 answers."""
        return min(LONGEST_PAUSE, len(self.runs) * PAUSE_PER_RUN)

    def _gathering(self) -> float:
        """Return the seconds for which writes gather: none at 50 answers, 15 ms at 200."""
        return min(LONGEST_GATHERING, max(0, len(self.runs) - AT_ONCE) * GATHERING_PER_RUN)

    def forget(self, conversation: str, socket: PageSocket, pump: asyncio.Task[Any]) -> None:
        self.listeners.remove(conversation, socket)
        pump.cancel()
        if self.peers is not None and not self.listeners.has(conversation):
            self.spawn(self.peers.relay.leave(conversation, lambda: self.listeners.has(conversation)))

    def tell(self, conversation: str, *given: frames.ServerFrame) -> None:
        """Send frames to every page of the conversation, here and in other processes."""
        self.listeners.tell(conversation, *given)
        if self.peers is not None:
            for frame in given:
                self.peers.tell(conversation, frame)

    def tell_pages(self, frame: frames.ServerFrame) -> None:
        """Send a frame to every page in this process."""
        for conversation in self.listeners.conversations():
            self.listeners.tell(conversation, frame)

    def announce(self, conversation: str, announced: Iterable[Announcement[Thing]]) -> None:
        """Announce stored rows to the pages in one write: each write costs a system call."""
        given = [frame_of(each) for each in announced]
        if given:
            self.tell(conversation, *given)

    def check_room(self) -> None:
        """Raise Busy if this process cannot run another turn, StorageUnavailable if it could not save one."""
        most = settings.ENV["TOOLSUPPORT_RUNNING_TURNS"]
        if storage.state.reason:
            raise StorageUnavailable(NOT_SAVED.format(storage.state.reason))
        if not self.accepting:
            raise Busy("The server is restarting. Try again in a moment.", "stopping")
        if len(self._tasks) >= most:
            raise Busy(f"{most} answers are running, which is the maximum of this server. Try again soon.", "process")

    async def begin(self, user_id: int, conversation: str, builder: TurnBuilder) -> AcceptedMessage:
        """Store a request, announce its first messages, run its turn.

        Raises NotFound, NotAllowed, Busy, ConfigError or the builder's errors.
        """
        self.check_room()
        accepted = await self.writer.write(conversation, lambda: self._write_begin(user_id, conversation, builder))
        self.announce_ends(accepted.ended)
        if accepted.claimed is None:
            self.announce(conversation, accepted.announced)
        else:
            self._run_beside(accepted.claimed)
        return accepted

    def _write_begin(self, user_id: int, conversation: str, builder: TurnBuilder) -> AcceptedMessage:
        """Store it; runs in the database's thread."""
        return begin(TurnRequest(person(user_id, Action.CHAT), conversation, builder, self.owner))

    async def wake(self, turn_id: int) -> None:
        """Claim a queued turn that no process has begun, and run it. One that cannot begin ends with the reason."""
        try:
            claimed = await in_database(claim)(turn_id, self.owner)
        except Error:
            raise
        except ToolsupportError as error:
            if isinstance(error, UnreadableSecret) and self.peers is not None and self._left.leave(turn_id):
                return
            await self._give_up_queued(turn_id, str(error))
        except Exception:
            log.exception("turn %s cannot begin", turn_id)
            await self._give_up_queued(turn_id, "internal")
        else:
            if claimed is not None:
                self._run_beside(claimed)

    async def _give_up_queued(self, turn_id: int, why: str) -> None:
        """End a turn that cannot begin: nothing else would, and each sweep would meet it before the other ones."""
        self.announce_ends(await in_database(end.give_up)(turn_id, why))

    def _run_beside(self, claimed: ClaimedTurn) -> None:
        """Run a turn that this process owns in a task of its own, and announce its opening before the first step."""
        context = turn_settings.tool_context(claimed.conversation, claimed.person)
        run = TurnRun(claimed, context, partial(self.tell, claimed.conversation))
        self.runs[claimed.turn] = run
        task = self._tasks[claimed.turn] = self.spawn(self._run(run))
        task.add_done_callback(lambda _: self._tasks.pop(claimed.turn, None))
        self.announce(claimed.conversation, claimed.opening)

    async def answer(self, user_id: int, question_id: int, given: SubmittedAnswer) -> ClosedQuestion:
        """Answer a question and resume its turn here. Raises NotFound, Conflict, ValueError."""
        closed = await in_database(self._answer)(user_id, question_id, given)
        await self.go_on(closed)
        return closed

    def _answer(self, user_id: int, question_id: int, given: SubmittedAnswer) -> ClosedQuestion:
        return questions.answer(person(user_id, Action.DECIDE_FOR_CHAT), question_id, given)

    async def go_on(self, closed: ClosedQuestion) -> None:
        """Announce a closed question and its effects, and claim the turn that waited for it."""
        self.announce(closed.conversation, closed.announced)
        if closed.turn is not None and self.accepting:
            await self.wake(closed.turn)

    def nudge(self, closed: ClosedQuestion) -> None:
        """Do the same from another thread, such as a view's. Without a runner here, another process finds the row."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(lambda: self.spawn(self.go_on(closed)))

    def announce_soon(self, conversation: str, announced: Iterable[Announcement[Thing]]) -> None:
        """Announce from another thread, such as a view's; without a runner here, pages notice the gap later."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.announce, conversation, list(announced))

    def tell_soon(self, conversation: str, frame: frames.ServerFrame) -> None:
        """Send a frame from another thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.tell, conversation, frame)

    def request_stop(self, turn_id: int) -> None:
        """Stop a turn if this process runs it; another process reads the request from the row."""
        self.cancel(turn_id, "stopped")

    def live(self, message_id: int) -> TurnRun | None:
        """Return the run that writes this message now, in this process."""
        return next((run for run in self.runs.values() if run.reply.message == message_id), None)

    def growing(self, conversation: str) -> list[frames.ServerFrame] | None:
        """Return all text being written in a conversation here; None if no turn runs here."""
        run = next((run for run in self.runs.values() if run.claimed.conversation == conversation), None)
        return run.so_far() if run else None

    def stop_turn_of(self, user_id: int, conversation: str) -> bool:
        """Stop the turn of a person's conversation, if it runs here. Reads no rows: those may be locked."""
        for run in (here := self._runs_of(conversation, user_id)):
            self.request_stop(run.claimed.turn)
        return bool(here)

    def stop_call(self, conversation: str, call_id: str, user_id: int | None = None) -> bool:
        """Stop one running tool of a conversation, if it runs here; its turn continues.

        Without `user_id` another process has checked whose conversation it is.
        """
        return any(run.stop_call(call_id) for run in self._runs_of(conversation, user_id))

    def _runs_of(self, conversation: str, user_id: int | None) -> list[TurnRun]:
        mine = [run for run in self.runs.values() if run.claimed.conversation == conversation]
        return [run for run in mine if user_id in (None, run.claimed.person)]

    def cancel(self, turn_id: int, why: str) -> None:
        """End a turn that runs here; `why` is a key of ENDS. The first reason counts, but a stop also of a lost turn.

        A turn whose end is being written has one: the heartbeat no longer finds it running, and reports it as lost.
        """
        before = self._why.get(turn_id, "")
        if turn_id in self._tasks and turn_id not in self._ending and before in ("", "lost"):
            self._why[turn_id] = why
            if not before:
                # A task that is cancelled before its first step never runs, and would leave its turn open.
                task = self._tasks[turn_id]
                asyncio.get_running_loop().call_soon(lambda: turn_id in self._ending or task.cancel())

    async def _run(self, run: TurnRun) -> None:
        claimed = run.claimed
        loop_share.person.set(claimed.person)
        run.trace.begin()
        try:
            await run.perform(self.spawn)
            if not run.parked:
                ended = run.ended or TurnEnded(TurnStatus.FAILED, "internal")
                await self._end(run, ended.reason, ended.detail)
        except asyncio.CancelledError:
            why = self._why.get(claimed.turn)
            if why is None:
                raise
            await self._end(run, *ENDS[why])
        except Lost:
            await self._end(run, *ENDS["lost"])
        except Error as error:
            log.error("could not write turn %s: %s", claimed.turn, error)
            await self._end(run, TurnStatus.FAILED, "storage")
        except Exception:
            log.exception("turn %s failed", claimed.turn)
            await self._end(run, TurnStatus.FAILED, "internal")
        finally:
            run.trace.end()
            self.runs.pop(claimed.turn, None)
            self._why.pop(claimed.turn, None)
            self._ending.discard(claimed.turn)

    async def _end(self, run: TurnRun, reason: str, detail: str) -> None:
        """Store and announce the end. It is shielded: a cancelled stop would leave a turn open."""
        metrics.TURNS.labels(reason).inc()
        run.trace.ended(reason)
        if reason == "lost":
            log.warning("stopped turn %s: another process ended it or runs it", run.claimed.turn)
            self.spawn(self.ends.give_up(run))
            return
        self._ending.add(run.claimed.turn)
        reply = run.last_reply() if run.reply.message else None
        outcome = end.TurnOutcome(reason, detail, run.usage, reply, run.tally.taken())
        await asyncio.shield(self.spawn(self.ends.write(run, outcome)))

    def announce_ends(self, ended: Iterable[end.TurnEnd]) -> None:
        """Announce the ends of turns."""
        for each in ended:
            self.announce(each.conversation, each.announced)


_runner: TurnRunner | None = None


def current() -> TurnRunner:
    """Return this process's runner, created at the first call. `asgi.start` starts it, `asgi.stop` ends it."""
    global _runner
    if _runner is None:
        _runner = TurnRunner()
    return _runner


async def drain(seconds: float) -> None:
    """Let the turns of this process finish, if it has a runner."""
    if _runner is not None:
        await _runner.drain(seconds)


async def shut_down() -> None:
    """Stop this process's runner and drop it (a later start creates a new one)."""
    global _runner
    if _runner is not None:
        with suppress(asyncio.CancelledError):
            await _runner.stop()
        _runner = None
