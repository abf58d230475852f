"""Continues a turn after a failure of its model or server, and learns from it.

Refused tools, unreadable calls, a model that denies access to files: each changes the request for the rest of the turn,
with a notice in the conversation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from channels.db import database_sync_to_async as in_database

from chat.transcript.announcements import Announcement, Announcements, Thing
from chat.transcript.questions import learning
from chat.transcript.turns import record
from chat.transcript.turns.begin import ClaimedTurn
from chat.turns.format_guard import FormatGuard
from toolsupport import exchange
from toolsupport.core import format_choice, format_fallback, tool_translation
from toolsupport.core.events import CallFound, CallReady, CallRejected, Failed, ReasoningSeen, ToolsRefused
from toolsupport.core.format_choice import NATIVE
from toolsupport.core.refusals import MISCONFIGURED, UNSUPPORTED, Refusal, classify
from toolsupport.core.types import RequestSpec
from toolsupport.registry.knowledge import reasoning_starts
from toolsupport.registry.models.request_context import RequestContext

Take = Callable[[RequestContext], None]
Announce = Callable[[Announcement[Thing]], None]


class FormatRecovery:
    """The recovery of one turn. `take` receives the new request context, `announce` the notices for its pages."""

    def __init__(self, claimed: ClaimedTurn, take: Take, announce: Announce) -> None:
        self._claimed, self._store = claimed, claimed.store
        self._take, self._announce = take, announce
        self._guard = FormatGuard()

    def count(self, event: CallReady | CallFound | CallRejected) -> None:
        """Count whether a call could be parsed."""
        self._guard.heard(event)

    async def replied(self, asked: RequestContext) -> None:
        """End a reply: if the format failed again, the next request uses another one."""
        failed = format_choice.label(asked.brief.format)
        after = f"Calls written as {failed} could not be read in this answer."
        brief = format_fallback.next_in_line(asked.brief, after) if self._guard.replied() else None
        if brief is not None:
            facts = {"failed": f"wrote calls that cannot be read as {failed}"}
            await self._go_on(asked, brief, "fallback", facts)

    async def refused(self, asked: RequestContext, event: ToolsRefused) -> None:
        """Handle refused tools: the server would refuse them in every round of this turn."""
        brief = exchange.otherwise(asked.brief, event)
        if brief.format:
            setting, refusal = "needs a server setting for native tools", "was refused native tools by its server"
            await self._go_on(asked, brief, "fallback", {"failed": setting if event.misconfigured else refusal})
        else:
            await self._go_on(asked, brief, "tools_need_setting" if event.misconfigured else "tools_refused", {})
        label = MISCONFIGURED if event.misconfigured else UNSUPPORTED
        await self._learn(Refusal(label, event.rule, event.message), event.status)

    async def refused_in_words(self, asked: RequestContext) -> None:
        """Offer bash to a model that denied access to files."""
        brief = tool_translation.after_refusal(asked.brief)
        if brief is not None:
            self._take(replace(asked, brief=brief))
            self._announce(await in_database(record.offer_bash)(self._store, {"model": self._claimed.model}))

    async def failed(self, asked: RequestContext, event: Failed) -> None:
        """Handle a failed answer with native tools, which may be the cause."""
        if asked.brief.format == NATIVE:
            await self._learn(classify(event.status, event.body), event.status)

    async def reasoning_seen(self, asked: RequestContext, event: ReasoningSeen) -> None:
        """Store how a reply began; the rest of the turn is read accordingly."""
        await in_database(reasoning_starts.learn)(self._claimed.profile, asked.build, event.begins_inside)
        self._take(replace(asked, brief=replace(asked.brief, begins_inside=event.begins_inside)))

    async def answered(self, asked: RequestContext) -> None:
        """Handle a complete answer: with native tools, its server no longer lacks a setting."""
        brief = asked.brief
        if asked.lacks_flag and brief.offers_tools and brief.format == NATIVE:
            await in_database(learning.server_lacks_nothing)(self._store)

    async def _go_on(self, asked: RequestContext, brief: RequestSpec, code: str, facts: dict[str, str]) -> None:
        """Use another format, or no tools, for the rest of this turn."""
        facts = {"model": self._claimed.model, "fallback": format_choice.label(brief.format)} | facts
        self._take(replace(asked, brief=brief))
        self._announce(await in_database(record.fall_back)(self._store, brief.format, code, facts))

    async def _learn(self, refusal: Refusal, status: int) -> None:
        """Store a refusal; add a notice of the missing server setting, and the question whether to remember it."""
        for each in await in_database(self._keep)(refusal, status):
            self._announce(each)

    def _keep(self, refusal: Refusal, status: int) -> Announcements:
        new_count = learning.keep_refusal(self._store, refusal, status)
        notice = record.notice_once(self._store, "flag_to_set", {"flag": new_count.flag}) if new_count.flag else None
        question = learning.ask_to_learn(self._store, new_count.options) if new_count.options else None
        return tuple(each for each in (notice, question) if each is not None)
