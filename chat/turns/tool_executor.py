"""Handles the calls of a turn's model: decides, asks a person, runs, stops.

In: the calls of one claimed turn. Out: a decision (`decide`), a question to a person (`asking`), an outcome (`run`).
Callers: the loop, through its protocol `CallExecutor`; `run` and `standalone_call`, which create one for each turn.
- `decide` waits for nothing; `run` checks again what may have changed since: a revoked permission, a changed
  tool.
- Once outside content is in the request, no grant counts any more, and a tool that sends needs a person as well. It
  may come from results, files, the memory, descriptions of tools, and answers that depend on any of these.
- A tool runs as a task of its own: stopping it does not stop the turn.
A tool never raises through it: a failure becomes a result that the model reads. It writes no rows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from chat.mcp import mcp_tools
from chat.sentences import sentence
from chat.statuses import CallStatus
from chat.tools import BUILTINS, bash_without_shell, diff_preview, outside_content_sources, policy
from chat.tools.policy import CallDecision, CallOutcome
from chat.tools.tool import Pause, PausedCallResult, Preview, Tool, ToolContext
from chat.transcript.conversations.memory import ConversationMemory
from chat.transcript.conversations.prompts import ConversationPrompts
from chat.transcript.messages import call_phrases, present
from chat.transcript.questions import questions
from chat.transcript.turns import model_change_check
from chat.transcript.turns.begin import ClaimedTurn
from chat.turns import tool_discovery
from chat.turns.databases import PersonDatabases
from chat.turns.events import ApprovalNeeded
from chat.turns.lasting_writes import in_database
from toolsupport import cancellable_threads
from toolsupport.core import outside_content, shell_translation
from toolsupport.core.errors import NotFound, ToolError
from toolsupport.core.file_access_refusals import claims_no_file_access
from toolsupport.core.outside_content import OutsideSource
from toolsupport.core.sentence_codes import joined
from toolsupport.core.types import ToolCall, ToolResult
from toolsupport.registry.models.request_context import RequestContext

Spawn = Callable[..., asyncio.Task[Any]]


@dataclass(slots=True)
class EnteredContent:
    """The outside content that has entered a turn. Its executor and the tools share it."""

    sources: tuple[OutsideSource, ...] = ()

    def read(self) -> tuple[OutsideSource, ...]:
        return self.sources


class ToolExecutor:
    """The tools of one turn: `tools` are those that may run in it, by name, `request_spec` offers some to its model.

    `outside` is the outside content that has entered the turn; `tainted`: there is some, other than descriptions of
    tools. A call that another tool serves is decided, approved and run as
    that tool's call; the model sees the name that it used. `cards` are the ids of the cards of running calls: that of a
    call, then that of the call it makes. `spawn` starts a supervised task, `written` returns the output of
    the running tool so far.
    """

    def __init__(self, claimed: ClaimedTurn, context: ToolContext) -> None:
        self.claimed = claimed
        prompt_parts = claimed.prepared.prompt_parts
        self._entered = EnteredContent()
        self.memory = ConversationMemory(claimed.store, prompt_parts.memory, self._entered.read)
        self.context = replace(
            context,
            find_tools=partial(tool_discovery.find, claimed, read=self._entered.read),
            databases=PersonDatabases(context.person),
            memory=self.memory,
            prompts=ConversationPrompts(claimed.store, prompt_parts.prompts),
        )
        self._taken: RequestContext | None = None
        self.tools: Mapping[str, Tool] = {}
        self.served: dict[str, ToolCall] = {}
        self.granted = claimed.granted
        self.tainted = False
        self.decisions: dict[str, questions.ApprovalDecision] = {}
        self.cards: list[str] = []
        self.spawn: Spawn = asyncio.create_task
        self.written: Callable[[], str] = str
        self.cut = False  # the server cut the last request: the model may never have seen its tools
        self._task: asyncio.Task[CallOutcome] | None = None
        self._stopped = ""
        if claimed.resumed is not None:
            self.decisions = dict(claimed.resumed.decisions)
            self.served = dict(claimed.resumed.served)
        self._include(claimed.received)
        self.take(claimed.prepared)

    @property
    def outside(self) -> tuple[OutsideSource, ...]:
        return self._entered.sources

    def take(self, prepared: RequestContext) -> None:
        """Continue with the tools of another request context; its outside content counts from now on."""
        if prepared is self._taken:
            return
        self._taken, self.request_spec, self.tools = prepared, prepared.request_spec, tools_of(prepared)
        self._include(outside_content_sources.of_request(self.request_spec, self.claimed.history))

    def serve(self, call: ToolCall) -> ToolCall:
        """Return the call that runs for a new call of the model."""
        self.served[call.id] = shell_translation.serve(call, self.request_spec).call
        return self.served[call.id]

    def runs_as(self, call: ToolCall) -> ToolCall:
        """Return the call that was chosen to run for a call."""
        return self.served.get(call.id, call)

    def level_of(self, served: ToolCall) -> str:
        """Return the level of the tool that runs for a call, "" for an unknown one."""
        tool = self.tools.get(served.name)
        return tool.level if tool else ""

    def finished(self, call: ToolCall) -> None:
        """Record that a call ended, and that the model reads its result."""
        served = self.runs_as(call)
        found = outside_content_sources.of_call(served.name, served.arguments, datetime.now(UTC).isoformat())
        # A memory that a person changed meanwhile was returned as the reason of a failure.
        self._include((*self.memory.outside, *((found,) if found else ())))

    def _include(self, sources: Iterable[OutsideSource]) -> None:
        self._entered.sources = outside_content.merged(self.outside, sources)
        self.tainted = self.tainted or any(not source.definition for source in self.outside)

    def decide(self, call: ToolCall, found: bool = False) -> CallDecision:
        """Apply a person's decision first, then the policy; a call found in prose always needs a person."""
        if call.id in self.decisions:
            return CallDecision.RUN
        served = self.runs_as(call)
        tool = self.tools.get(served.name)
        # Descriptions of tools end permissions as well, but are not data that could leak.
        granted = frozenset[str]() if self.outside else policy.granted_for(tool, self.granted, served.arguments)
        return CallDecision.ASK if found else policy.verdict(tool, granted, self.tainted)

    @property
    def _by_program(self) -> bool:
        return self.claimed.resumed is not None and self.claimed.resumed.calls_only

    async def model_changed(self) -> bool:
        return await in_database(model_change_check.model_changed)(self.claimed.turn)

    def has_alternative(self, written: str) -> bool:
        """Return whether the model denies access to files although it has tools, and bash was not offered yet."""
        return (
            not self.cut
            and claims_no_file_access(written)
            and shell_translation.after_refusal(self.request_spec) is not None
        )

    async def run(self, call: ToolCall) -> CallOutcome:
        """Run a call that was decided."""
        served = self.runs_as(call)
        decision = self.decisions.pop(call.id, None)
        if decision is not None and (why := self._why_not(decision, served)):
            return policy.refused(why)
        if decision is None:
            if policy.granted_for(self.tools.get(served.name), self.granted, served.arguments):
                # A person may have revoked the permission since the turn began.
                self.granted = await in_database(questions.granted)(self.claimed.conversation)
            if self.decide(call) is CallDecision.ASK:
                return policy.refused(TAKEN_BACK)
        context = self._context(decision.basis if decision else "")
        return await self._finish(policy.run(served, context, self.tools, approved=True))

    def _why_not(self, decision: questions.ApprovalDecision, served: ToolCall) -> str:
        """Return why a decision does not permit the call, or "": the approved tool may have changed since."""
        tool = self.tools.get(served.name)
        changed = decision.allowed and tool is not None and tool.level != decision.level
        return CHANGED.format(served.name) if changed else decision.why

    async def go_on(self, program: ToolCall, pause: Pause, inner: CallOutcome) -> CallOutcome:
        """Give a program the result of its call; a program that was allowed once may run to its end."""
        decision, tool = self.decisions.pop(program.id, None), self.tools.get(program.name)
        if decision is not None and not decision.allowed:
            return policy.refused(decision.why)
        if self._stopped and self._stopped in self.cards:
            return STOPPED
        if tool is None:
            return policy.refused(f"{program.name} was switched off meanwhile.")
        after = pause.state, PausedCallResult(inner.status, inner.result.content)
        return await self._finish(policy.go_on(program, self._context(), tool, after))

    def _context(self, basis: str = "") -> ToolContext:
        """Return the tool context, with a program's functions: the tools its model may call, except code."""
        offered = {spec.name for spec in self.request_spec.callable} - {shell_translation.BASH}
        able = (tool.spec for name, tool in self.tools.items() if name in offered and tool.level in policy.IN_PROGRAMS)
        return replace(self.context, basis=basis, functions=tuple(able))

    async def _finish(self, work: Coroutine[Any, Any, CallOutcome]) -> CallOutcome:
        """Run a tool as a task of its own, so that it can be stopped while the turn continues."""
        task: asyncio.Task[CallOutcome] = self.spawn(work)
        self._task = task
        try:
            return await task
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                task.cancel()
                raise
            written = self.written()
            words = f"{written.rstrip()}\n[{STOPPED.result.content}]" if written else STOPPED.result.content
            return replace(STOPPED, result=ToolResult(words, is_error=True))
        finally:
            self._task = None

    def stop(self, card: str) -> bool:
        """Stop the running tool if its card is this one or that of its program; the turn continues."""
        if self._task is None or card not in self.cards:
            return False
        self._stopped = card
        return self._task.cancel()

    async def asking(self, needed: ApprovalNeeded) -> questions.ApprovalRequest | None:
        """Return the question about a call; None for an impossible one, whose reason the model gets."""
        call, served = needed.call, self.runs_as(needed.call)
        tool = self.tools.get(served.name)
        try:
            preview = await cancellable_threads.run(previewed, tool, served, self.context)
            change = preview.change
            diff = await diff_preview.difference(self.claimed.person, change) if change else ""
        except (ToolError, NotFound) as error:
            self.decisions[call.id] = questions.ApprovalDecision(False, str(error))
            return None
        except Exception as error:
            self.decisions[call.id] = questions.ApprovalDecision(False, policy.failed(served, error))
            return None
        ungranted = tool is not None and tool.level not in policy.GRANTABLE
        notes = [
            BY_PROGRAM if self._by_program else "",
            IN_PROSE if needed.found else "",
            TAINTED if ungranted and self.tainted else "",
        ]
        reason = joined(*notes)
        may_grant = tool is not None and policy.grantable(tool, self.tainted or bool(self.outside))
        return questions.ApprovalRequest(
            served,
            preview.question,
            diff,
            may_grant,
            preview.basis,
            preview.code,
            needed.state,
            self.outside,
            preview.size,
            reason,
        )


BY_PROGRAM, IN_PROSE = sentence("by_program"), sentence("in_prose")
TAINTED = sentence("after_outside_content")
STOPPED = CallOutcome(CallStatus.STOPPED, ToolResult("A person stopped this tool.", is_error=True), 0)
CHANGED = "{} became another tool after this was allowed, so it was not run. Call it again to ask a person."
TAKEN_BACK = "The permission for this tool was withdrawn, so it was not run. Call it again to ask a person."


def tools_of(prepared: RequestContext) -> dict[str, Tool]:
    """Return the tools that may run for a model, offered or not."""
    remotes = {remote.spec.name: mcp_tools.tool_of(remote) for remote in prepared.remotes}
    everything = {**remotes, **BUILTINS}
    usable = prepared.usable
    tools = {name: tool for name, tool in everything.items() if name in usable}
    return (
        tools | {shell_translation.BASH: bash_without_shell.STAND_IN}
        if shell_translation.only_commands(prepared.request_spec)
        else tools
    )


def previewed(tool: Tool | None, call: ToolCall, context: ToolContext) -> Preview:
    """Return the preview of a call. Blocks on the disk; raises ToolError or NotFound if it cannot work."""
    if tool is not None and tool.preview:
        return tool.preview(context, call.arguments)
    target = present.target(call.name, call.arguments)
    if not target:
        return Preview(sentence("use_tool", tool=call.name))
    verb = call_phrases.verb_of(call.name, call.arguments)
    return Preview(sentence("act_on", act=verb.base.capitalize(), target=target))
