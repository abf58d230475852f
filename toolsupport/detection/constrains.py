"""Tests whether the server constrains replies to a schema: one that demands what the request forbids."""

from __future__ import annotations

import random
from dataclasses import dataclass

import orjson

from toolsupport import providers
from toolsupport.core import side_findings
from toolsupport.core.constrained import CALLS, call_schema
from toolsupport.core.outcomes import TrialOutcome
from toolsupport.core.types import JSON, ChatMessage, Role, ToolSpec
from toolsupport.core.verdicts import wanted
from toolsupport.detection.grading import quoted
from toolsupport.detection.probe_prompts import secret
from toolsupport.detection.probe_reply import ProbeReply, trouble
from toolsupport.detection.probe_runner import ProbeRequest, ProbeRunner
from toolsupport.detection.trial_order import streamed_or_not

ENFORCED = "It wrote what the schema demands and the request forbids."
NOT_JSON = "It wrote what no schema allows: {}"
ANOTHER = "The schema was not enforced. It wrote: {}"
# Statuses of a refused request; llama.cpp sends 500 for mistakes of clients, too.
REFUSED = frozenset({400, 415, 422, 501})
ABOUT_SCHEMAS = ("schema", "grammar", "response_format", "structured", "json")


@dataclass(frozen=True, slots=True)
class ForbiddenConstant:
    """A request for one text, under a schema that allows only another one; only the schema holds `demanded`."""

    asked: str
    demanded: str
    tool: str
    several: bool = False

    @property
    def messages(self) -> tuple[ChatMessage, ...]:
        words = (
            f'Reply with exactly this text and nothing else: {{"code": "{self.asked}"}}\n'
            "Any other code, any other key and any other form is forbidden."
        )
        return (ChatMessage(Role.USER, words),)

    @property
    def schema(self) -> JSON:
        """Return a schema of the kind that calls are constrained to: a server may fail at large ones only."""
        code: JSON = {"type": "string", "enum": [self.demanded]}
        count: JSON = {"type": "integer", "minimum": 1, "maximum": 9}
        needed = {"type": "object", "properties": {"code": code, "count": count}, "required": ["code", "count"]}
        names = (self.tool, f"{self.tool}_again")
        tools = [ToolSpec(name, parameters=needed) for name in names]
        return call_schema(tools, answer=False, parallel=self.several)

    def met_by(self, text: str) -> bool:
        """Return whether a whole reply is what the schema demands."""
        try:
            read = orjson.loads(text)
        except ValueError:
            return False
        calls = read.get(CALLS, [read]) if isinstance(read, dict) else []
        return bool(calls) and isinstance(calls, list) and all(self._is_demanded(call) for call in calls)

    def _is_demanded(self, call: object) -> bool:
        arguments = call.get("arguments") if isinstance(call, dict) else None
        named = isinstance(call, dict) and call.get("tool") in (self.tool, f"{self.tool}_again")
        return named and isinstance(arguments, dict) and arguments.get("code") == self.demanded


def forbidden_constant(chance: random.Random, *, several: bool) -> ForbiddenConstant:
    """Return a request that was never sent before."""
    tool = f"note_{secret(chance).replace('-', '').lower()}"
    return ForbiddenConstant(secret(chance), secret(chance), tool, several)


async def run(runner: ProbeRunner) -> None:
    """Try schemas with new constants until the result is settled.

    For a model that calls tools natively that comes last, where time is left.
    """
    if runner.first_round and wanted("second_turn", runner.outcomes):
        return
    if not providers.provider(runner.subject.endpoint.kind).constrains:
        return
    ways, several = streamed_or_not(runner.chance), False
    while not side_findings.constrains_settled(runner.outcomes):
        asked = forbidden_constant(runner.chance, several=several)
        question = ProbeRequest(asked.messages, streamed=next(ways), think=runner.think, schema=asked.schema)
        reply = await runner.ask(question)
        await runner.note(question, reply, TrialOutcome("constrains", *judged(reply, asked), question.streamed))
        several = not several


def judged(reply: ProbeReply, asked: ForbiddenConstant) -> tuple[str, str]:
    """Return (code, why). A cut reply shows nothing, unless it does not even begin as the schema demands."""
    text = reply.text.strip()
    if asked.met_by(text):
        return "right", ENFORCED
    if text and not text.startswith("{"):
        return "unenforced", NOT_JSON.format(quoted(text))
    if reply.failed is not None and _refused(reply):
        return "refused", f"The server refused the schema: {reply.failed.message}"
    return trouble(reply) or ("unenforced", ANOTHER.format(quoted(text)))


def _refused(reply: ProbeReply) -> bool:
    if reply.failed is None:
        return False
    body = reply.failed.body.lower()
    return reply.failed.status in REFUSED or (reply.failed.status == 500 and any(one in body for one in ABOUT_SCHEMAS))
