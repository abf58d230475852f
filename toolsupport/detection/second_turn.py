"""Tests whether the model uses the result of a tool."""

from __future__ import annotations

import html
import re
import unicodedata

from toolsupport.core.call_building import compact
from toolsupport.core.outcomes import TrialOutcome
from toolsupport.core.sentences import sentence
from toolsupport.core.types import ToolCall
from toolsupport.detection.grading import shortened
from toolsupport.detection.probe_prompts import TICKET, TOOLS, answered, demand, secret
from toolsupport.detection.probe_reply import ProbeReply, trouble
from toolsupport.detection.probe_runner import ProbeRunner

# Markup, escapes of JSON, and a hyphen that is spelt out.
BESIDE_SIGNS = re.compile(
    r"<[^<>]{0,80}>|\\(?:[nrt]|u20[0-9a-f]{2})|"
    r"\b(?:dash|hyphen|minus|bindestrich|strich|tiret|trait d'union|guion|guión|hífen|traço|trattino|lineetta|streepje"
    r"|myślnik|łącznik|дефис|тире|pomlčka|tire|kısa çizgi)\b|横线|橫線|连字符|連字號|ハイフン|하이픈"
)


async def run(runner: ProbeRunner) -> None:
    """Request answers after a result; each result holds a fresh secret."""
    while not runner.sampled("second_turn"):
        asked, seat = demand(runner.chance), secret(runner.chance)
        call = ToolCall("call_1", TICKET.name, {"ticket": asked.ticket, "copies": asked.copies})
        question = runner.offering(answered(asked, [call], seat), TOOLS)
        reply = await runner.ask(question)
        await runner.note(question, reply, TrialOutcome("second_turn", *judged(reply, seat)))


def judged(reply: ProbeReply, seat: str) -> tuple[str, str]:
    """Return (code, why): whether the answer shows that the model read the result."""
    if _signs(seat) in _signs(reply.text):
        return "right", sentence("result_read")
    taker = _taker(reply, seat)
    if taker:
        return "right", sentence("result_passed_on", tool=taker)
    troubled = trouble(reply)
    if troubled is not None:
        return troubled
    if _signs(seat) in _signs(reply.thinking):
        return "proves_nothing", sentence("result_in_reasoning", text=shortened(reply.text))
    if reply.calls:
        return "called_for_nothing", sentence("called_again", tool=reply.calls[0].name)
    return "not_copied", sentence("result_not_read", result=seat, text=shortened(reply.text))


def _taker(reply: ProbeReply, seat: str) -> str:
    """Return the tool whose call holds the seat, "" if there is none; a rejected call counts too."""
    made = [(call.name, compact(call.arguments)) for call in reply.calls]
    made += [(call.name, call.raw) for call in reply.rejected]
    return next((name for name, written in made if _signs(seat) in _signs(written)), "")


def _signs(text: str) -> str:
    """Return its letters and digits: models vary hyphens, spaces, bold and case, or write `K7F dash 3XDP`."""
    plain = unicodedata.normalize("NFKC", html.unescape(text)).casefold()
    return "".join(sign for sign in BESIDE_SIGNS.sub(" ", plain) if sign.isalnum())
