"""Continues a turn after a failure of its model or server, and learns from it.

Refused tools, unreadable calls, a model that denies access to files: each changes the request for the rest of the turn,
with a notice in the conversation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from chat.sentences import sentence
from chat.transcript.announcements import Announcement, Announcements, Thing
from chat.transcript.questions import server_refusal_question
from chat.transcript.turns import record
from chat.transcript.turns.begin import ClaimedTurn
from chat.turns.format_guard import FormatGuard
from chat.turns.lasting_writes import in_database
from toolsupport import exchange
from toolsupport.core import forced_calls, format_choice, format_fallback, left_out_settings, shell_translation
from toolsupport.core.events import (
    CallFound,
    CallReady,
    CallRejected,
    Failed,
    ReasoningSeen,
    SchemaDropped,
    SchemaRefused,
    SettingsLeftOut,
    ToolsRefused,
)
from toolsupport.core.format_choice import FORCED, NATIVE
from toolsupport.core.server_refusals import MISCONFIGURED, UNSUPPORTED, Refusal, classify
from toolsupport.core.types import ChatMessage, RequestSpec
from toolsupport.registry.knowledge import reasoning_starts, response_schema_faults
from toolsupport.registry.models.request_context import RequestContext

Take = Callable[[RequestContext], None]
Announce = Callable[[Announcement[Thing]], None]


class FormatRecovery:
    """The recovery of one turn. `take` receives the new request context, `announce` the notices for its pages."""

    def __init__(self, claimed: ClaimedTurn, take: Take, announce: Announce) -> None:
        self._claimed, self._store = claimed, claimed.store
        self._take, self._announce = take, announce
        self._guard = FormatGuard()
        self._rejected: CallRejected | None = None
        self._usable = self._called = self._ignored = self._required = False
        self._before: RequestSpec | None = None
        self._left_out: set[str] = set()

    def asking(self, asked: RequestContext, history: Sequence[ChatMessage]) -> None:
        """Begin a request: a required call may be constrained, whatever the format of the turn."""
        constrained = exchange.as_required(asked.endpoint, asked.request_spec, history)
        self._required = constrained is not asked.request_spec

    def written_in(self, asked: RequestContext) -> str:
        """Return the format in which the calls of this reply are written."""
        return FORCED if self._required else asked.request_spec.format

    def count(self, event: CallReady | CallFound | CallRejected) -> None:
        """Count whether a call could be parsed."""
        self._guard.received(event)
        if isinstance(event, CallRejected) and event.fault != "cut":
            self._rejected = self._rejected or event
        else:
            self._usable = True

    async def replied(self, asked: RequestContext) -> str:
        """End a reply: if the format failed again, the next request uses another one.

        If the server enforces a schema, the next reply is constrained after the first unusable call, and once more,
        under a narrower schema, after a constrained one that breaks a rule that its schema left out. Returns the
        tool of that call then, else "".
        """
        rejected, self._rejected = (None if self._usable else self._rejected), None
        before, self._before, self._called = self._before, None, self._called or self._usable
        ignored, self._ignored, self._usable = self._ignored, False, False
        if rejected is not None and self._may_constrain(asked.request_spec, rejected):
            self._before = before or asked.request_spec
            must_call = forced_calls.is_required(asked.request_spec) and not self._called
            retry = forced_calls.retried(asked.request_spec, rejected, must_call=must_call, last=True)
            self._take(replace(asked, request_spec=retry))
            return rejected.name or "a tool"
        if ignored:
            own = replace(asked, request_spec=before or asked.request_spec)
            await self._unenforced(own, forced_calls.DROPPED, sentence("ignored_schema"))
        elif before is not None and asked.request_spec.format == FORCED:
            self._take(replace(asked, request_spec=before))
        else:
            await self._change_format(asked)
        return ""

    def _may_constrain(self, asked: RequestSpec, rejected: CallRejected) -> bool:
        """Return whether a constrained reply may give a usable call."""
        misfit = rejected.fault == "schema" and not asked.constraint.narrow
        return asked.may_force and (asked.format != FORCED or misfit)

    async def _unenforced(self, asked: RequestContext, reason: str, failed: str) -> None:
        """Continue without constrained output; a notice follows if that is the model's own format."""
        request_spec = forced_calls.unenforced(asked.request_spec, reason)
        if asked.request_spec.format == FORCED:
            code = "fallback" if request_spec.format else "tools_refused"
            await self._go_on(asked, request_spec, code, {"failed": failed})
        else:
            self._take(replace(asked, request_spec=request_spec))

    async def _change_format(self, asked: RequestContext) -> None:
        failed = format_choice.label(asked.request_spec.format)
        after = f"Calls written as {failed} could not be read in this answer."
        request_spec = format_fallback.next_in_line(asked.request_spec, after) if self._guard.replied() else None
        if request_spec is not None:
            facts: dict[str, str] = {"failed": sentence("unreadable_calls", format=failed)}
            await self._go_on(asked, request_spec, "fallback", facts)

    async def refused(self, asked: RequestContext, event: ToolsRefused) -> None:
        """Handle refused tools: the server would refuse them in every round of this turn."""
        request_spec = exchange.otherwise(asked.request_spec, event)
        if request_spec.format:
            why = sentence("needs_native_setting" if event.misconfigured else "refused_native_tools")
            await self._go_on(asked, request_spec, "fallback", {"failed": why})
        else:
            await self._go_on(asked, request_spec, "tools_need_setting" if event.misconfigured else "tools_refused", {})
        label = MISCONFIGURED if event.misconfigured else UNSUPPORTED
        await self._learn(Refusal(label, event.rule, event.message), event.status)

    async def refused_in_words(self, asked: RequestContext) -> None:
        """Offer bash to a model that denied access to files."""
        request_spec = shell_translation.after_refusal(asked.request_spec)
        if request_spec is not None:
            self._take(replace(asked, request_spec=request_spec))
            self._announce(await in_database(record.offer_bash)(self._store, {"model": self._claimed.model}))

    async def failed(self, asked: RequestContext, event: Failed) -> None:
        """Handle a failed answer with native tools, which may be the cause."""
        if asked.request_spec.format == NATIVE:
            await self._learn(classify(event.status, event.body), event.status)

    async def reasoning_seen(self, asked: RequestContext, event: ReasoningSeen) -> None:
        """Store how a reply began; the rest of the turn is read accordingly."""
        await in_database(reasoning_starts.learn)(self._claimed.profile, asked.build, event.begins_inside)
        self._take(replace(asked, request_spec=replace(asked.request_spec, begins_inside=event.begins_inside)))

    async def schema_fault(self, asked: RequestContext, event: SchemaDropped | SchemaRefused) -> None:
        """Store that the server does not enforce the schema of a reply; the rest of the turn uses none."""
        await in_database(response_schema_faults.learn)(self._claimed.profile, asked.build, event)
        if isinstance(event, SchemaDropped):
            self._ignored = True
            self._take(replace(asked, request_spec=replace(asked.request_spec, may_force=False)))
        elif event.part == "all":
            own, self._before = replace(asked, request_spec=self._before or asked.request_spec), None
            self._required = False
            reason = forced_calls.REFUSED.format(message=event.message)
            await self._unenforced(own, reason, sentence("refused_schema", message=event.message))
        else:
            self._before = forced_calls.after_refusal(self._before, event) if self._before else None
            self._take(replace(asked, request_spec=forced_calls.after_refusal(asked.request_spec, event)))

    async def settings_left_out(self, asked: RequestContext, event: SettingsLeftOut) -> None:
        """Add a notice of settings that the server refuses, once for each model of a chat."""
        if self._left_out.issuperset(event.settings):
            return
        self._left_out.update(event.settings)
        facts = left_out_settings.facts(asked.request_spec.model, event.settings, event.message)
        notice = await in_database(record.notice_once)(self._store, "settings_left_out", facts)
        if notice is not None:
            self._announce(notice)

    async def answered(self, asked: RequestContext) -> None:
        """Handle a complete answer: with native tools, its server no longer lacks a setting."""
        request_spec = asked.request_spec
        if asked.lacks_flag and request_spec.offers_tools and request_spec.format == NATIVE:
            await in_database(server_refusal_question.server_lacks_nothing)(self._store)

    async def _go_on(self, asked: RequestContext, request_spec: RequestSpec, code: str, facts: dict[str, str]) -> None:
        """Use another format, or no tools, for the rest of this turn."""
        facts = {"model": self._claimed.model, "fallback": format_choice.label(request_spec.format)} | facts
        self._take(replace(asked, request_spec=request_spec))
        self._announce(await in_database(record.fall_back)(self._store, request_spec.format, code, facts))

    async def _learn(self, refusal: Refusal, status: int) -> None:
        """Store a refusal; add a notice of the missing server setting, and the question whether to remember it."""
        for each in await in_database(self._keep)(refusal, status):
            self._announce(each)

    def _keep(self, refusal: Refusal, status: int) -> Announcements:
        new_count = server_refusal_question.keep_refusal(self._store, refusal, status)
        notice = record.notice_once(self._store, "flag_to_set", {"flag": new_count.flag}) if new_count.flag else None
        question = server_refusal_question.ask_to_learn(self._store, new_count.options) if new_count.options else None
        return tuple(each for each in (notice, question) if each is not None)


RECOVERED: dict[type, Callable[[FormatRecovery, RequestContext, Any], Awaitable[None]]] = {
    ReasoningSeen: FormatRecovery.reasoning_seen,
    SchemaDropped: FormatRecovery.schema_fault,
    SchemaRefused: FormatRecovery.schema_fault,
    SettingsLeftOut: FormatRecovery.settings_left_out,
    Failed: FormatRecovery.failed,
}
