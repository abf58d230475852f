"""Grades one reply to a request for a call: correct, or how it failed."""

from __future__ import annotations

from toolsupport.core.formats import code_mode
from toolsupport.core.outcomes import TrialOutcome
from toolsupport.core.sentence_codes import QUOTED
from toolsupport.core.sentences import sentence
from toolsupport.core.types import ToolCall
from toolsupport.detection.calls_in_code import calls_in
from toolsupport.detection.probe_prompts import TICKET, ProbePrompt
from toolsupport.detection.probe_reply import ProbeReply, trouble
from toolsupport.detection.probe_runner import ProbeRequest

# Faults of calls that could be read.
FAULTS = {"unknown": "unknown_tool", "schema": "wrong_arguments"}


def judge(step: str, question: ProbeRequest, reply: ProbeReply, asked: ProbePrompt) -> TrialOutcome:
    """Return the outcome of a request for one call."""
    subject = "" if question.format == "native" else question.format
    code, why = _unstreamed_only(reply) or trouble(reply) or _of_calls(reply, asked)
    return TrialOutcome(step, code, why, question.streamed, subject)


def _unstreamed_only(reply: ProbeReply) -> tuple[str, str] | None:
    return ("refused", sentence("refuses_streaming")) if reply.refuses_streaming else None


def _of_calls(reply: ProbeReply, asked: ProbePrompt) -> tuple[str, str]:
    if not reply.calls and not reply.rejected:
        return "no_call", sentence("called_nothing", text=shortened(reply.text))
    if not reply.calls:
        first = reply.rejected[0]
        return FAULTS.get(first.fault, "malformed"), sentence("call_rejected", reason=first.reason)
    call = next((call for call in _made(reply) if call.name == TICKET.name), None)
    if call is None:
        return "unknown_tool", sentence("called_another", called=reply.calls[0].name, wanted=TICKET.name)
    if call.arguments.get("ticket") != asked.ticket:
        written = shortened(str(call.arguments.get("ticket")))
        return "not_copied", sentence("not_copied", written=written, wanted=asked.ticket)
    if call.arguments.get("copies") != asked.copies:
        written = shortened(repr(call.arguments.get("copies")))
        return "wrong_arguments", sentence("wrong_copies", written=written, wanted=asked.copies)
    if call.repairs:
        return "right", sentence("right_call_repaired", repairs=list(call.repairs))
    return "right", sentence("right_call")


def _made(reply: ProbeReply) -> list[ToolCall]:
    """Return the calls, including those inside a program."""
    return [
        inner
        for call in reply.calls
        for inner in (calls_in(call.arguments.get("code"), TICKET) if call.name == code_mode.TOOL else [call])
    ]


def shortened(text: str) -> str:
    """Return the part of a model's text that a sentence quotes."""
    return " ".join(text.split())[: QUOTED + 1]
