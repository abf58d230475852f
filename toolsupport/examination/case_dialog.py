"""Runs one trial of a case: asks the model, answers its calls with recorded results, until it makes none."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from toolsupport import exchange
from toolsupport.core.events import Failed
from toolsupport.core.exams.argument_match import same
from toolsupport.core.exams.cases import ExamCase
from toolsupport.core.exams.grading import CaseGrade, CaseReply, all_right, grade
from toolsupport.core.types import JSON, ChatMessage, Endpoint, RequestSpec, Role, ToolCall
from toolsupport.detection.probe_reply import ProbeReply, trouble

MOST_ROUNDS = 10
FURTHER_CALLS = 4  # calls beyond the expected ones after which a trial ends
SECONDS = 120.0  # of one reply
STAND_IN = "No result is recorded for this call."
# Outcome that ProbeReply cannot grade → the grade here; all others are failures of the server.
TROUBLES = {"cut": "cut", "timeout": "timeout", "no_word": "no_answer", "malformed": "unreadable"}


@dataclass(slots=True)
class CaseTrial:
    """A graded trial with the model's replies. Times in ms."""

    grade: CaseGrade
    replies: list[JSON] = field(default_factory=list)
    duration_ms: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class CaseModel:
    """A model that takes a case; its spec offers the tools of the case."""

    endpoint: Endpoint
    request_spec: RequestSpec


class CaseDialog:
    """The trial of one case. `request_spec` offers the tools of the case.

    `whole`: it continues to the last reply, also where the calls so far are wrong already. `then` is the model that
    gets the results of the first calls: the model of the chat is changed between a call and its result.
    """

    def __init__(self, model: CaseModel, case: ExamCase, whole: bool = False, then: CaseModel | None = None) -> None:
        self.case, self._whole, self._then = (replace(case, together=False) if then else case), whole, then
        self._models = tuple(one.request_spec.model for one in (model, then) if one is not None)
        self.trial = CaseTrial(CaseGrade("failed"))
        self._model = model
        self._log = list(case.messages)
        self._calls: list[ToolCall] = []
        self._first = 0
        self._asking: ProbeReply | None = None

    @property
    def format(self) -> str:
        """The call format of the request, "" if no tools are offered."""
        spec = (self._then or self._model).request_spec
        return spec.format if spec.offers_tools else ""

    @property
    def replies(self) -> list[JSON]:
        """The replies so far, with the growing one."""
        return [*self.trial.replies, *([self._parts(self._asking)] if self._asking is not None else [])]

    async def run(self) -> CaseTrial:
        """Return the graded trial. A server that fails is a grade that shows nothing about the model."""
        began = time.monotonic()
        self.trial.grade = await self._graded()
        self.trial.duration_ms = round((time.monotonic() - began) * 1000)
        return self.trial

    async def _graded(self) -> CaseGrade:
        for _ in range(MOST_ROUNDS):
            reply = await self._ask()
            self._keep(reply)
            if found := self._trouble(reply) or self._unswapped(reply):
                return found
            if reply.rejected:
                reason = reply.rejected[0].reason
                return self._grade(unusable=(reason,))
            if not reply.calls:
                return self._grade(text=reply.text)
            self._answer(reply)
            self._model, self._then = self._then or self._model, None
            needless = len(self._calls) > len(self.case.expected) + FURTHER_CALLS or not self.case.expected
            if needless and not self._whole:
                break
        return self._grade(ended=False)

    def _grade(self, **found: Any) -> CaseGrade:
        return grade(self.case, CaseReply(tuple(self._calls), self._first, **found))

    def _trouble(self, reply: ProbeReply) -> CaseGrade | None:
        if reply.refused is not None:
            return CaseGrade("refused", {"reason": reply.refused.message})
        found = trouble(reply)
        if found is None or (found[0] == "cut" and reply.text and not self.case.expected):
            return None
        code = TROUBLES.get(found[0], "failed")
        return CaseGrade(code, {"reason": found[1]})

    def _unswapped(self, reply: ProbeReply) -> CaseGrade | None:
        """Return the grade of a trial whose first model made no right call: nothing can be handed over."""
        if self._then is None or (not reply.rejected and all_right(self.case, reply.calls)):
            return None
        return CaseGrade("not_swapped", {"model": self._models[0]})

    async def _ask(self) -> ProbeReply:
        self._asking = reply = ProbeReply(budget=int(self._model.request_spec.options.get("num_predict") or 0))
        try:
            async with asyncio.timeout(SECONDS):
                async with aclosing(exchange.ask(self._model.endpoint, self._model.request_spec, self._log)) as batches:
                    async for batch in batches:
                        for event in batch:
                            reply.take(event)
        except TimeoutError:
            reply.failed = Failed("timeout", f"No whole answer within {SECONDS:.0f} s.")
        return reply

    def _keep(self, reply: ProbeReply) -> None:
        self._asking = None
        self.trial.replies.append(self._parts(reply))
        self.trial.prompt_tokens += reply.usage.prompt_tokens or 0
        self.trial.output_tokens += reply.usage.output_tokens or 0

    def _parts(self, reply: ProbeReply) -> JSON:
        writer = {"model": self._model.request_spec.model} if len(self._models) > 1 else {}
        return writer | _parts(reply)

    def _answer(self, reply: ProbeReply) -> None:
        """Add the calls of a reply, and their recorded results, to the conversation."""
        self._log.append(ChatMessage(Role.ASSISTANT, reply.text, calls=tuple(reply.calls)))
        for call in reply.calls:
            self._log.append(ChatMessage(Role.TOOL, recorded(self.case, call), call_id=call.id, name=call.name))
        self._first = self._first or len(reply.calls)
        self._calls += reply.calls


def _parts(reply: ProbeReply) -> JSON:
    """Return a reply as it is stored."""
    calls = [{"name": call.name, "arguments": call.arguments, "repairs": list(call.repairs)} for call in reply.calls]
    rejected = [{"name": call.name, "reason": call.reason, "raw": call.raw} for call in reply.rejected]
    parts: JSON = {"text": reply.text, "thinking": reply.thinking, "calls": calls, "rejected": rejected}
    if reply.failed is not None:
        parts["failed"] = reply.failed.message
    if reply.left_out is not None:
        parts["left_out"] = {"settings": list(reply.left_out.settings), "message": reply.left_out.message}
    return {name: value for name, value in parts.items() if value}


def recorded(case: ExamCase, call: ToolCall) -> str:
    """Return the recorded result of a call: of the same arguments, else of any call of its tool, else the stand-in."""
    of_tool = [one for one in case.recorded if one.name == call.name]
    exact = [one for one in of_tool if one.arguments is not None and same(one.arguments, call.arguments)]
    found = exact or [one for one in of_tool if one.arguments is None]
    return found[0].result if found else STAND_IN


def not_offered(reason: str) -> CaseTrial:
    """Return the grade of a trial that could not be made."""
    return CaseTrial(CaseGrade("failed", {"reason": reason}))
