"""What the pages are told after a server refused the tools of a running answer."""

from __future__ import annotations

from dataclasses import replace

from channels.db import database_sync_to_async as in_database

from chat.broadcast import fragments, frames, question_frames
from chat.transcript.questions import learning
from chat.transcript.turns import record
from chat.transcript.turns.lifecycle import ClaimedTurn
from toolsupport.core.events import ReasoningSeen
from toolsupport.core.format_choice import NATIVE
from toolsupport.core.refusals import Refusal
from toolsupport.registry.knowledge import reasoning_starts
from toolsupport.registry.models.request_context import RequestContext
from toolsupport.services.learning import RefusalResponse


async def learn(claimed: ClaimedTurn, refusal: Refusal, status: int) -> list[frames.ServerFrame]:
    """Keep the refusal; the frames that ask whether to remember it, or name the setting that the server lacks."""
    return await in_database(_learn)(claimed, refusal, status)


def _learn(claimed: ClaimedTurn, refusal: Refusal, status: int) -> list[frames.ServerFrame]:
    lesson = learning.keep_refusal(claimed.store, refusal, status)
    return [*_flag(claimed, lesson), *_question(claimed, lesson)]


async def answered(claimed: ClaimedTurn, briefing: RequestContext) -> None:
    """An answer ended as it began: where native tools were sent, their server lacks no setting any more."""
    brief = briefing.brief
    if briefing.lacks_flag and brief.offers_tools and brief.format == NATIVE:
        await in_database(learning.server_lacks_nothing)(claimed.store)


async def reasoning_seen(claimed: ClaimedTurn, briefing: RequestContext, event: ReasoningSeen) -> RequestContext:
    """Keep where a reply showed that it began; the rest of the turn is read accordingly."""
    await in_database(reasoning_starts.learn)(claimed.profile, briefing.build, event.begins_inside)
    return replace(briefing, brief=replace(briefing.brief, begins_inside=event.begins_inside))


def _flag(claimed: ClaimedTurn, lesson: RefusalResponse) -> list[frames.ServerFrame]:
    told = record.notice_once(claimed.store, "flag_to_set", {"flag": lesson.flag}) if lesson.flag else None
    if told is None:
        return []
    seq, shown = told
    return [frames.NoticeFrame(seq, shown.code, shown.text, fragments.message(shown))]


def _question(claimed: ClaimedTurn, lesson: RefusalResponse) -> list[frames.ServerFrame]:
    made = learning.ask_to_learn(claimed.store, lesson.options) if lesson.options else None
    return [question_frames.question_frame(*made)] if made else []
