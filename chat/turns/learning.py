"""What a turn finds out about its model and its server, kept for the answers that follow."""

from __future__ import annotations

from dataclasses import replace

from channels.db import database_sync_to_async as in_database

from chat.transcript.announcements import Announcements
from chat.transcript.questions import learning
from chat.transcript.turns import record
from chat.transcript.turns.begin import ClaimedTurn
from toolsupport.core.events import ReasoningSeen
from toolsupport.core.format_choice import NATIVE
from toolsupport.core.refusals import Refusal
from toolsupport.registry.knowledge import reasoning_starts
from toolsupport.registry.models.request_context import RequestContext


async def learn(claimed: ClaimedTurn, refusal: Refusal, status: int) -> Announcements:
    """Keep the refusal; a notice of the setting that the server lacks, and the question whether to remember it."""
    return await in_database(_learn)(claimed, refusal, status)


def _learn(claimed: ClaimedTurn, refusal: Refusal, status: int) -> Announcements:
    store, lesson = claimed.store, learning.keep_refusal(claimed.store, refusal, status)
    notice = record.notice_once(store, "flag_to_set", {"flag": lesson.flag}) if lesson.flag else None
    question = learning.ask_to_learn(store, lesson.options) if lesson.options else None
    return tuple(each for each in (notice, question) if each is not None)


async def answered(claimed: ClaimedTurn, briefing: RequestContext) -> None:
    """An answer ended as it began: where native tools were sent, their server lacks no setting any more."""
    brief = briefing.brief
    if briefing.lacks_flag and brief.offers_tools and brief.format == NATIVE:
        await in_database(learning.server_lacks_nothing)(claimed.store)


async def reasoning_seen(claimed: ClaimedTurn, briefing: RequestContext, event: ReasoningSeen) -> RequestContext:
    """Keep where a reply showed that it began; the rest of the turn is read accordingly."""
    await in_database(reasoning_starts.learn)(claimed.profile, briefing.build, event.begins_inside)
    return replace(briefing, brief=replace(briefing.brief, begins_inside=event.begins_inside))
