"""Tests whether the server constrains replies to a schema, with one that demands a text that the request forbids."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Any

import orjson

from toolsupport import providers
from toolsupport.core import side_findings
from toolsupport.core.constrained import CALLS, REPLY, SchemaRules, call_schema, schema_enforcement
from toolsupport.core.events import Failed
from toolsupport.core.outcomes import TrialOutcome
from toolsupport.core.sentences import sentence
from toolsupport.core.side_findings import NESTED, ODD, PATTERN, PLAIN, SEVERAL
from toolsupport.core.types import JSON, ChatMessage, Role, ToolSpec
from toolsupport.detection.probe_prompts import secret
from toolsupport.detection.probe_reply import ProbeReply, trouble
from toolsupport.detection.probe_runner import ProbeRequest, ProbeRunner
from toolsupport.detection.trial_order import streamed_or_not

RULES = SchemaRules(frozenset({"pattern"}))
COUNT: JSON = {"type": "integer", "minimum": 1, "maximum": 9}
# A schema that refers to itself, with alternatives within alternatives.
NODE: JSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 8},
        "value": {"anyOf": [COUNT, {"type": "object", "properties": {"of": {"anyOf": [COUNT, {"type": "null"}]}}}]},
        "inner": {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 1},
    },
    "required": ["name", "value"],
}
# A server that cannot read this must refuse it: one that drops the whole schema would also drop others.
ODD_TEXT: JSON = {"type": "string", "pattern": r"^(?!.*7)(?=.*[A-Z])[A-Z0-9]{4}$"}
MANY = ("", "_again", *(f"_{number}" for number in range(10)))  # ends of the names of the tools


@dataclass(frozen=True, slots=True)
class ForbiddenConstant:
    """A request for one text, under a schema that allows only another one; only the schema holds `demanded`.

    `shape` is one of SHAPES: the rest of the schema.
    """

    asked: str
    demanded: str
    tool: str
    shape: str = PLAIN
    mark: str = "QX"

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
        properties: JSON = {"code": {"type": "string", "enum": [self.demanded]}, "count": COUNT}
        properties |= {"mark": {"type": "string", "pattern": self._pattern}} if self.shape == PATTERN else {}
        properties |= {"tree": {"$ref": "#/$defs/node"}} if self.shape == NESTED else {}
        needed: JSON = {"type": "object", "properties": properties, "required": list(properties)}
        needed |= {"$defs": {"node": NODE}} if self.shape == NESTED else {}
        tools = [ToolSpec(name, parameters=needed) for name in self._names]
        made = call_schema(tools, answer=False, parallel=self.shape in (SEVERAL, NESTED), rules=RULES)
        return _with_odd_pattern(made) if self.shape == ODD else made

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(f"{self.tool}{end}" for end in (MANY if self.shape == NESTED else MANY[:2]))

    @property
    def _pattern(self) -> str:
        return f"^{self.mark}[0-9]{{3}}$"

    def met_by(self, text: str) -> bool:
        """Return whether a whole reply fits the schema, except for a pattern."""
        calls = _calls(text)
        return bool(calls) and all(self._is_demanded(call) for call in calls)

    def keeps_pattern(self, text: str) -> bool:
        """Return whether each call of such a reply fits the pattern too."""
        marks = [call["arguments"].get("mark") for call in _calls(text)]
        return all(isinstance(mark, str) and re.fullmatch(self._pattern[1:-1], mark) for mark in marks)

    def _is_demanded(self, call: object) -> bool:
        arguments = call.get("arguments") if isinstance(call, dict) else None
        named = isinstance(call, dict) and call.get("tool") in self._names
        return named and isinstance(arguments, dict) and arguments.get("code") == self.demanded


def _calls(text: str) -> list[Any]:
    """Return the calls of a reply; [] if it has none."""
    try:
        read = orjson.loads(text)
    except ValueError:
        return []
    read = read.get(REPLY, read) if isinstance(read, dict) else None
    calls = read.get(CALLS, [read]) if isinstance(read, dict) else []
    return calls if isinstance(calls, list) else []


def _with_odd_pattern(schema: JSON) -> JSON:
    """Return a schema with a pattern that grammars cannot express: calls are never constrained to one."""
    for branch in schema["anyOf"]:
        arguments = branch["properties"]["arguments"]
        arguments["properties"]["mark"] = ODD_TEXT
        arguments["required"].append("mark")
    return schema


def forbidden_constant(chance: random.Random, shape: str = PLAIN) -> ForbiddenConstant:
    """Return a request that was never sent before."""
    tool = f"note_{secret(chance).replace('-', '').lower()}"
    mark = "".join(chance.sample("BCDFGHJKLMNPQRSTVWXZ", 2))
    return ForbiddenConstant(secret(chance), secret(chance), tool, shape, mark)


def possible(runner: ProbeRunner) -> bool:
    """Return whether requests to this kind of server have a field for a schema."""
    return bool(providers.provider(runner.subject.endpoint.kind).constrains)


async def run(runner: ProbeRunner) -> None:
    """Try schemas with new constants until the result is settled."""
    if not possible(runner):
        return
    ways = streamed_or_not(runner.chance)
    while not side_findings.constrains_settled(runner.outcomes):
        asked = forbidden_constant(runner.chance, side_findings.next_shape(runner.outcomes))
        question = ProbeRequest(asked.messages, streamed=next(ways), think=runner.think, schema=asked.schema)
        reply = await runner.ask(question)
        outcome = TrialOutcome("constrains", *judged(reply, asked), question.streamed, subject=asked.shape)
        await runner.note(question, reply, outcome)


def judged(reply: ProbeReply, asked: ForbiddenConstant) -> tuple[str, str]:
    """Return (code, why). A cut reply shows nothing, unless it does not even begin as the schema demands."""
    text = reply.text.strip()
    if asked.met_by(text):
        return _of_pattern(text, asked)
    if _is_empty_choice(text):
        return "proves_nothing", sentence("no_call_allowed")
    if text and not text.startswith("{"):
        return "unenforced", sentence("schema_ignored", text=text)
    if reply.failed is not None and _is_refusal(reply.failed):
        return _of_refusal(reply.failed.message, asked.shape)
    return trouble(reply) or ("unenforced", sentence("schema_ignored", text=text))


def _is_empty_choice(text: str) -> bool:
    """Return whether a reply has hosted services' outer object and no call: their lists have no minimum length."""
    try:
        return bool(orjson.loads(text) == {REPLY: {CALLS: []}})
    except ValueError:
        return False


def _of_pattern(text: str, asked: ForbiddenConstant) -> tuple[str, str]:
    if asked.shape == PATTERN and not asked.keeps_pattern(text):
        return "pattern_dropped", sentence("pattern_ignored", text=text)
    return "right", sentence("schema_enforced")


def _of_refusal(message: str, shape: str) -> tuple[str, str]:
    """Judge a refusal: a server that refuses a grammar it cannot read drops none."""
    if shape == ODD:
        return "right", sentence("odd_schema_refused", message=message)
    return "pattern_dropped" if shape == PATTERN else "refused", sentence("schema_refused", message=message)


def _is_refusal(failed: Failed) -> bool:
    return failed.status in schema_enforcement.REFUSED or schema_enforcement.is_refusal(failed.status, failed.body)
