"""Handles each client frame."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from channels.db import database_sync_to_async as in_database

from chat.broadcast import client_frames, frames
from chat.broadcast.error_codes import FrameError
from chat.broadcast.page_sockets import PageSocket
from chat.transcript.announcements import Announcement, Announcements
from chat.transcript.conversations import (
    branches,
    conversations,
)
from chat.transcript.people.socket_permissions import person
from chat.transcript.questions import (
    questions,
    unknown_model,
)
from chat.transcript.turns import end, found_tools, turn_owners
from chat.transcript.turns.regenerate import ContinueRequest, RegenerateRequest
from chat.transcript.turns.repeat_call import RepeatRequest
from chat.transcript.turns.sent_message import SentMessage
from chat.turns import runner
from toolsupport.core.errors import NotFound
from toolsupport.registry.people.permissions import PUBLIC, Action
from toolsupport.registry.testing import detections
from toolsupport.services import background_jobs


@dataclass(frozen=True, slots=True)
class PageContext:
    """The person and the conversation of a socket."""

    user_id: int
    conversation: str


Handler = Callable[[PageContext, PageSocket, Any], Awaitable[None]]


def allowed_to(permission: str) -> Callable[[Handler], Handler]:
    """Declare who may send a frame: an Action, or PUBLIC for every open socket.

    The handler itself reads the permission again, in the database call that it makes anyway.
    """

    def declare(handler: Handler) -> Handler:
        handler.permission = permission  # type: ignore[attr-defined]
        return handler

    return declare


def check(place: PageContext) -> None:
    """Raise NotFound or NotAllowed unless the person may chat and owns the conversation."""
    conversations.own(person(place.user_id, Action.CHAT), place.conversation)


def hello(place: PageContext) -> frames.HelloFrame:
    """Return the data that a page needs when its socket opens."""
    state = conversations.state(person(place.user_id, Action.CHAT), place.conversation)
    return frames.HelloFrame(
        conversation=place.conversation,
        model=asdict(state.model) if state.model else None,
        capabilities=state.capabilities,
        tail=state.tail,
        turn=state.turn,
    )


@allowed_to(Action.CHAT)
async def message_send(place: PageContext, socket: PageSocket, frame: client_frames.MessageSend) -> None:
    """Store the message, show it to every page, start its answer."""
    sent = SentMessage(frame.client_id, frame.text, frame.parent, tuple(frame.attachments or ()))
    await _begin(place, socket, sent)


@allowed_to(Action.CHAT)
async def turn_continue(place: PageContext, socket: PageSocket, frame: client_frames.TurnContinue) -> None:
    """Continue an answer that ended early."""
    await _begin(place, socket, ContinueRequest(frame.client_id or uuid.uuid4().hex))


@allowed_to(Action.CHAT)
async def turn_regenerate(place: PageContext, socket: PageSocket, frame: client_frames.TurnRegenerate) -> None:
    """Answer again, as a branch next to the existing answer."""
    client_id = frame.client_id or uuid.uuid4().hex
    await _begin(place, socket, RegenerateRequest(client_id, frame.message, frame.mode, frame.model))


async def _begin(
    place: PageContext, socket: PageSocket, request: SentMessage | ContinueRequest | RegenerateRequest | RepeatRequest
) -> None:
    accepted = await runner.current().begin(place.user_id, place.conversation, request)
    socket.put(frames.MessageAcceptedFrame(request.client_id, accepted.message.id, accepted.turn))


@allowed_to(Action.CHAT)
async def branch_select(place: PageContext, socket: PageSocket, frame: client_frames.BranchSelect) -> None:
    """Show another branch; pages fetch it when they see the newer number."""

    def select() -> frames.HelloFrame:
        branches.select(person(place.user_id, Action.CHAT), place.conversation, frame.message)
        return hello(place)

    runner.current().tell(place.conversation, await in_database(select)())


@allowed_to(Action.CHAT)
async def model_select(place: PageContext, socket: PageSocket, frame: client_frames.ModelSelect) -> None:
    """Choose a model; choosing the present one changes nothing. An unknown one leads to a question."""

    def select() -> Announcements:
        who = person(place.user_id, Action.CHAT)
        chosen = conversations.select_model(who, place.conversation, frame.model)
        cut = found_tools.say_cut(who, place.conversation) if chosen else None
        asking = unknown_model.ask(who, place.conversation)
        answered = [Announcement(seq, replace(notice, client_id=frame.client_id)) for seq, notice in chosen[:1]]
        return *answered, *chosen[1:], *([cut] if cut else ()), *asking

    runner.current().announce(place.conversation, await in_database(select)())


@allowed_to(Action.DETECT)
async def detection_start(place: PageContext, socket: PageSocket, frame: client_frames.DetectionStart) -> None:
    """Test a model, or join the open test; every page of the model gets its progress."""

    def start() -> unknown_model.Notice | None:
        return unknown_model.start(person(place.user_id, Action.DETECT), place.conversation, frame.model)[1]

    notice = await in_database(start)()
    background_jobs.current().tester.look()
    if notice is not None:
        runner.current().announce(place.conversation, [notice])


@allowed_to(Action.DETECT)
async def detection_skip(place: PageContext, socket: PageSocket, frame: client_frames.DetectionSkip) -> None:
    """Skip a step of a test."""

    def skip() -> None:
        person(place.user_id, Action.DETECT)
        detections.skip(frame.detection, frame.step or "")

    await in_database(skip)()


@allowed_to(Action.DETECT)
async def detection_cancel(place: PageContext, socket: PageSocket, frame: client_frames.DetectionCancel) -> None:
    """Cancel a test, without a verdict."""

    def cancel() -> None:
        person(place.user_id, Action.DETECT)
        detections.cancel(frame.detection)

    await in_database(cancel)()


@allowed_to(Action.CHAT)
async def tools_switch(place: PageContext, socket: PageSocket, frame: client_frames.ToolsSwitch) -> None:
    """Set the conversation's own tools switch."""

    def switch() -> frames.HelloFrame:
        conversations.switch_tools(person(place.user_id, Action.CHAT), place.conversation, frame.on)
        return hello(place)

    runner.current().tell(place.conversation, await in_database(switch)())


@allowed_to(Action.CHAT)
async def turn_stop(place: PageContext, socket: PageSocket, frame: client_frames.TurnStop) -> None:
    """Stop the open turn, in any process; a turn of this process stops at once, even while the database is locked."""
    if runner.current().stop_turn_of(place.user_id, place.conversation):
        return

    def request() -> tuple[int | None, end.TurnEnd | None, str]:
        asked = end.request_stop(person(place.user_id, Action.CHAT), place.conversation)
        return *asked, turn_owners.leader_of(place.conversation)

    turn_id, ended, leader = await in_database(request)()
    here = runner.current()
    if ended is not None:
        here.announce_ends([ended])
    elif turn_id is not None:
        here.request_stop(turn_id)
        if here.peers is not None and leader != here.owner:
            here.peers.stop(leader, turn_id)


@allowed_to(Action.CHAT)
async def turn_resync(place: PageContext, socket: PageSocket, frame: client_frames.TurnResync) -> None:
    """Return all text of a message so far, for a page that missed a piece of it."""
    await in_database(person)(place.user_id, Action.CHAT)
    run = runner.current().live(frame.message)
    if run is not None and run.claimed.conversation == place.conversation:
        for whole in run.so_far():
            socket.put(whole)
        return

    def stored() -> tuple[tuple[str, str], str]:
        found = conversations.text_of(person(place.user_id, Action.CHAT), place.conversation, frame.message)
        return found, turn_owners.writer_of(frame.message)

    found, leader = await in_database(stored)()
    peers = runner.current().peers
    if leader and peers is not None:
        # That process answers, and its answer comes before the text that follows it.
        peers.follow(place.conversation, leader)
    else:
        socket.put(frames.ResyncFrame(frame.message, *found))


@allowed_to(Action.CHAT)
async def call_stop(place: PageContext, socket: PageSocket, frame: client_frames.CallStop) -> None:
    """Stop one running tool; the turn continues with an error result."""
    here = runner.current()
    if here.stop_call(place.conversation, frame.call, place.user_id):
        return
    await in_database(person)(place.user_id, Action.CHAT)
    leader = await in_database(turn_owners.leader_of)(place.conversation) if here.peers else ""
    if here.peers is None or leader in ("", here.owner):
        raise NotFound("This tool is no longer running.")
    here.peers.stop_call(leader, place.conversation, frame.call)


@allowed_to(Action.CHAT)
async def call_repeat(place: PageContext, socket: PageSocket, frame: client_frames.CallRepeat) -> None:
    """Run a finished call again, in an answer of its own."""
    await _begin(place, socket, RepeatRequest(frame.client_id or uuid.uuid4().hex, frame.call))


@allowed_to(Action.DECIDE_FOR_CHAT)
async def question_answer(place: PageContext, socket: PageSocket, frame: client_frames.QuestionAnswer) -> None:
    """Answer a question of this conversation; the first answer wins."""
    given = questions.SubmittedAnswer(frame.answer, frame.arguments or {}, frame.reply or "")
    try:
        await runner.current().answer(place.user_id, frame.question, given)
    except ValueError as error:
        raise FrameError("bad_answer", str(error)) from error


@allowed_to(PUBLIC)
async def ping(place: PageContext, socket: PageSocket, frame: client_frames.Ping) -> None:
    socket.put(frames.PongFrame())


HANDLERS: dict[type, Handler] = {
    client_frames.MessageSend: message_send,
    client_frames.ModelSelect: model_select,
    client_frames.ToolsSwitch: tools_switch,
    client_frames.TurnStop: turn_stop,
    client_frames.TurnContinue: turn_continue,
    client_frames.TurnRegenerate: turn_regenerate,
    client_frames.BranchSelect: branch_select,
    client_frames.TurnResync: turn_resync,
    client_frames.CallStop: call_stop,
    client_frames.CallRepeat: call_repeat,
    client_frames.QuestionAnswer: question_answer,
    client_frames.DetectionStart: detection_start,
    client_frames.DetectionSkip: detection_skip,
    client_frames.DetectionCancel: detection_cancel,
    client_frames.Ping: ping,
}
