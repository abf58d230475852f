"""What each client frame leads to."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Any

from channels.db import database_sync_to_async as in_database

from chat.broadcast import detection_frames, fragments, frames
from chat.broadcast.frames import FrameError
from chat.broadcast.outbox import PageSocket
from chat.transcript.conversations import (
    branches,
    conversations,
)
from chat.transcript.messages.view_models import ShownMessage
from chat.transcript.people.person import person
from chat.transcript.questions import (
    questions,
    unknown_model,
)
from chat.transcript.turns import (
    found_tools,
    lifecycle,
    process_lists,
    regenerate,
    repeat_call,
)
from chat.turns import runner
from toolsupport.core.errors import NotFound
from toolsupport.registry.people.permissions import PUBLIC, Action
from toolsupport.registry.testing import detections
from toolsupport.services import background_jobs


@dataclass(frozen=True, slots=True)
class PageContext:
    """Whose page of which conversation a socket is."""

    user_id: int
    conversation: str


Handler = Callable[[PageContext, PageSocket, Any], Awaitable[None]]


def allowed_to(permission: str) -> Callable[[Handler], Handler]:
    """Declare who may send a frame: an Action, or PUBLIC for whoever holds a socket.

    The handler itself reads the right afresh, in the hop to the database that it makes anyway.
    """

    def declare(handler: Handler) -> Handler:
        handler.permission = permission  # type: ignore[attr-defined]
        return handler

    return declare


def check(place: PageContext) -> None:
    """Raises NotFound or NotAllowed unless the person may chat and the conversation is theirs."""
    conversations.own(person(place.user_id, Action.CHAT), place.conversation)


def hello(place: PageContext) -> frames.HelloFrame:
    """What a page needs to know when its socket opens."""
    state = conversations.state(person(place.user_id, Action.CHAT), place.conversation)
    return frames.HelloFrame(
        conversation=place.conversation,
        model=asdict(state.model) if state.model else None,
        capabilities=state.capabilities,
        tail=state.tail,
        turn=state.turn,
    )


@allowed_to(Action.CHAT)
async def message_send(place: PageContext, socket: PageSocket, frame: frames.MessageSend) -> None:
    """Keep the message, tell everybody, start the turn."""
    sent = lifecycle.SentMessage(frame.client_id, frame.text, frame.parent, tuple(frame.attachments or ()))
    accepted = await runner.current().accept(place.user_id, place.conversation, sent)
    socket.put(frames.MessageAcceptedFrame(frame.client_id, accepted.message.id, accepted.turn))


@allowed_to(Action.CHAT)
async def turn_continue(place: PageContext, socket: PageSocket, frame: frames.TurnContinue) -> None:
    """Go on with the answer that broke off."""
    await _once_more(place, socket, regenerate.ContinueRequest(frame.client_id or uuid.uuid4().hex))


@allowed_to(Action.CHAT)
async def turn_regenerate(place: PageContext, socket: PageSocket, frame: frames.TurnRegenerate) -> None:
    """Answer again, as a branch beside the answer that is there."""
    client_id = frame.client_id or uuid.uuid4().hex
    await _once_more(place, socket, regenerate.RegenerateRequest(client_id, frame.message, frame.mode, frame.model))


async def _once_more(
    place: PageContext, socket: PageSocket, wish: regenerate.ContinueRequest | regenerate.RegenerateRequest
) -> None:
    accepted = await runner.current().answer_again(place.user_id, place.conversation, wish)
    socket.put(frames.MessageAcceptedFrame(wish.client_id, accepted.message.id, accepted.turn))


@allowed_to(Action.CHAT)
async def branch_select(place: PageContext, socket: PageSocket, frame: frames.BranchSelect) -> None:
    """Show another branch; the newer tail leads every page to fetch it."""

    def select() -> frames.HelloFrame:
        branches.select(person(place.user_id, Action.CHAT), place.conversation, frame.message)
        return hello(place)

    runner.current().tell(place.conversation, await in_database(select)())


@allowed_to(Action.CHAT)
async def model_select(place: PageContext, socket: PageSocket, frame: frames.ModelSelect) -> None:
    """Choose a model; choosing the one in use says nothing. One that nobody knows is asked about."""

    def select() -> tuple[
        conversations.ModelSwitch, tuple[int, ShownMessage] | None, unknown_model.ModelChoiceQuestion
    ]:
        who = person(place.user_id, Action.CHAT)
        chosen = conversations.select_model(who, place.conversation, frame.model)
        cut = found_tools.say_cut(who, place.conversation) if chosen.notice else None
        return chosen, cut, unknown_model.ask(who, place.conversation)

    chosen, cut, asking = await in_database(select)()
    if chosen.notice is not None:
        said, model = chosen.notice, asdict(chosen.model)
        html = fragments.message(said)
        notice = frames.NoticeFrame(chosen.seq, said.code, said.text, html, model, frame.client_id)
        runner.current().tell(place.conversation, notice)
    finishing = (chosen.seq + 1, chosen.finishing) if chosen.finishing else None
    for besides in (finishing, cut):
        if besides is not None:
            seq, said = besides
            notice = frames.NoticeFrame(seq, said.code, said.text, fragments.message(said))
            runner.current().tell(place.conversation, notice)
    _tell_asking(place.conversation, asking)


def _tell_asking(conversation: str, asking: unknown_model.ModelChoiceQuestion) -> None:
    tell, asked = runner.current().tell, asking.question
    seq = asking.seq - len(asking.ended) - bool(asked) + 1
    for number, ended in enumerate(asking.ended, start=seq):
        tell(conversation, frames.QuestionClosedFrame(number, ended, "superseded", ""))
    if asked is not None:
        html = fragments.question(asked)
        tell(
            conversation,
            frames.QuestionAskedFrame(asking.seq, asked.id, asked.kind, asked.text, list(asked.options), html),
        )


@allowed_to(Action.DETECT)
async def detection_start(place: PageContext, socket: PageSocket, frame: detection_frames.DetectionStart) -> None:
    """Test a model, or join the test that is under way; its progress comes to every page of the model."""

    def start() -> unknown_model.ModelChoiceNotice | None:
        return unknown_model.start(person(place.user_id, Action.DETECT), place.conversation, frame.model)[1]

    said = await in_database(start)()
    background_jobs.current().tester.look()
    if said is not None:
        runner.current().say(place.conversation, said)


@allowed_to(Action.DETECT)
async def detection_skip(place: PageContext, socket: PageSocket, frame: detection_frames.DetectionSkip) -> None:
    """Leave a step of a test out."""

    def skip() -> None:
        person(place.user_id, Action.DETECT)
        detections.skip(frame.detection, frame.step or "")

    await in_database(skip)()


@allowed_to(Action.DETECT)
async def detection_cancel(place: PageContext, socket: PageSocket, frame: detection_frames.DetectionCancel) -> None:
    """End a test without a verdict."""

    def cancel() -> None:
        person(place.user_id, Action.DETECT)
        detections.cancel(frame.detection)

    await in_database(cancel)()


@allowed_to(Action.CHAT)
async def tools_switch(place: PageContext, socket: PageSocket, frame: frames.ToolsSwitch) -> None:
    """The conversation's own tools switch."""

    def switch() -> frames.HelloFrame:
        conversations.switch_tools(person(place.user_id, Action.CHAT), place.conversation, frame.on)
        return hello(place)

    runner.current().tell(place.conversation, await in_database(switch)())


@allowed_to(Action.CHAT)
async def turn_stop(place: PageContext, socket: PageSocket, frame: frames.TurnStop) -> None:
    """Stop the open turn, wherever it runs."""

    def request() -> tuple[int | None, lifecycle.EndedTurn | None, str]:
        asked = lifecycle.request_stop(person(place.user_id, Action.CHAT), place.conversation)
        return *asked, process_lists.leader_of(place.conversation)

    turn_id, ended, leader = await in_database(request)()
    here = runner.current()
    if ended is not None:
        here.tell_end(ended)
    elif turn_id is not None:
        here.request_stop(turn_id)
        if here.elsewhere is not None and leader != here.owner:
            here.elsewhere.stop(leader, turn_id)


@allowed_to(Action.CHAT)
async def turn_resync(place: PageContext, socket: PageSocket, frame: frames.TurnResync) -> None:
    """The whole text of a message so far, for a page that missed a piece of it."""
    await in_database(person)(place.user_id, Action.CHAT)
    run = runner.current().live(frame.message)
    if run is not None and run.claimed.conversation == place.conversation:
        for whole in run.so_far():
            socket.put(whole)
        return

    def stored() -> tuple[tuple[str, str], str]:
        found = conversations.text_of(person(place.user_id, Action.CHAT), place.conversation, frame.message)
        return found, process_lists.writer_of(frame.message)

    found, leader = await in_database(stored)()
    elsewhere = runner.current().elsewhere
    if leader and elsewhere is not None:
        # That process answers, and its answer comes before the text that follows it.
        elsewhere.follow(place.conversation, leader)
    else:
        socket.put(frames.ResyncFrame(frame.message, *found))


@allowed_to(Action.CHAT)
async def call_stop(place: PageContext, socket: PageSocket, frame: frames.CallStop) -> None:
    """Stop one running tool; the turn goes on with an error result."""
    await in_database(person)(place.user_id, Action.CHAT)
    here = runner.current()
    if here.stop_call(place.conversation, frame.call):
        return
    leader = await in_database(process_lists.leader_of)(place.conversation) if here.elsewhere else ""
    if here.elsewhere is None or leader in ("", here.owner):
        raise NotFound("This tool is not running any more.")
    here.elsewhere.stop_call(leader, place.conversation, frame.call)


@allowed_to(Action.CHAT)
async def call_repeat(place: PageContext, socket: PageSocket, frame: frames.CallRepeat) -> None:
    """Let a finished call run once more, in an answer of its own."""
    wish = repeat_call.RepeatRequest(frame.client_id or uuid.uuid4().hex, frame.call)
    accepted = await runner.current().repeat(place.user_id, place.conversation, wish)
    socket.put(frames.MessageAcceptedFrame(wish.client_id, accepted.message.id, accepted.turn))


@allowed_to(Action.DECIDE_FOR_CHAT)
async def question_answer(place: PageContext, socket: PageSocket, frame: frames.QuestionAnswer) -> None:
    """Answer a question of this conversation; the first answer wins."""
    given = questions.SubmittedAnswer(frame.answer, frame.arguments or {})
    try:
        await runner.current().answer(place.user_id, frame.question, given)
    except ValueError as error:
        raise FrameError("bad_answer", str(error)) from error


@allowed_to(PUBLIC)
async def ping(place: PageContext, socket: PageSocket, frame: frames.Ping) -> None:
    socket.put(frames.PongFrame())


HANDLERS: dict[type, Handler] = {
    frames.MessageSend: message_send,
    frames.ModelSelect: model_select,
    frames.ToolsSwitch: tools_switch,
    frames.TurnStop: turn_stop,
    frames.TurnContinue: turn_continue,
    frames.TurnRegenerate: turn_regenerate,
    frames.BranchSelect: branch_select,
    frames.TurnResync: turn_resync,
    frames.CallStop: call_stop,
    frames.CallRepeat: call_repeat,
    frames.QuestionAnswer: question_answer,
    detection_frames.DetectionStart: detection_start,
    detection_frames.DetectionSkip: detection_skip,
    detection_frames.DetectionCancel: detection_cancel,
    frames.Ping: ping,
}
