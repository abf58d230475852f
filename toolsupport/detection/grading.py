"""Grades one reply to a request for a call: correct, or how it failed."""

from __future__ import annotations

from toolsupport.core.formats import code_mode
from toolsupport.core.outcomes import TrialOutcome
from toolsupport.core.types import ToolCall
from toolsupport.detection.code_mode_calls import calls_in
from toolsupport.detection.probe_prompts import TICKET, ProbePrompt
from toolsupport.detection.probe_reply import ProbeReply, trouble
from toolsupport.detection.probe_runner import ProbeRequest

LONGEST_QUOTE = 160
# What was wrong with a call that could be read.
FAULTS = {"unknown": "unknown_tool", "schema": "wrong_arguments"}


def judge(step: str, question: ProbeRequest, reply: ProbeReply, asked: ProbePrompt) -> TrialOutcome:
    """Return the outcome of a request for one call."""
    subject = "" if question.format == "native" else question.format
    code, why = _unstreamed_only(reply) or trouble(reply) or _of_calls(reply, asked)
    return TrialOutcome(step, code, why, question.streamed, subject)


def _unstreamed_only(reply: ProbeReply) -> tuple[str, str] | None:
    return ("refused", "The server refuses tools together with streaming.") if reply.refuses_streaming else None


def _of_calls(reply: ProbeReply, asked: ProbePrompt) -> tuple[str, str]:
    if not reply.calls and not reply.rejected:
        return "no_call", f"It called nothing and wrote: {quoted(reply.text)}"
    if not reply.calls:
        first = reply.rejected[0]
        return FAULTS.get(first.fault, "malformed"), first.reason
    call = next((call for call in _made(reply) if call.name == TICKET.name), None)
    if call is None:
        return "unknown_tool", f"It called {reply.calls[0].name} where {TICKET.name} was demanded."
    if call.arguments.get("ticket") != asked.ticket:
        return "not_copied", f"It was to copy {asked.ticket} and wrote {quoted(str(call.arguments.get('ticket')))}."
    if call.arguments.get("copies") != asked.copies:
        return "wrong_arguments", f"copies was to be {asked.copies}, it wrote {call.arguments.get('copies')!r}."
    repairs = f" Repairs: {'; '.join(call.repairs)}." if call.repairs else ""
    return "right", f"The right tool, with the arguments that were demanded.{repairs}"


def _made(reply: ProbeReply) -> list[ToolCall]:
    """Return the calls, including those inside a program."""
    return [
        inner
        for call in reply.calls
        for inner in (calls_in(call.arguments.get("code"), TICKET) if call.name == code_mode.TOOL else [call])
    ]


def quoted(text: str) -> str:
    """Return the beginning of a model's text, on one line."""
    plain = " ".join(text.split())
    return f"“{plain[:LONGEST_QUOTE]}{'…' if len(plain) > LONGEST_QUOTE else ''}”" if plain else "nothing"
