"""A model that writes Hermes calls in broken JSON, in a different way each time; the meaning stays clear."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from toolsupport.simulator.languages.objects import as_object, hermes
from toolsupport.simulator.quirks import honest
from toolsupport.simulator.quirks.writes import written
from toolsupport.simulator.reading import text_prompt
from toolsupport.simulator.types import ModelInput, SimulatedCall, SimulatedReply


def reply(prompt: ModelInput) -> SimulatedReply:
    """Make the honest calls, broken in a way that changes with each answer of the conversation."""
    read = text_prompt.prompt(prompt)
    answers = sum(message.role == "assistant" for message in read.messages)
    return written(honest.reply(read), lambda calls: broken(calls, answers))


def broken(calls: Sequence[SimulatedCall], turn: int) -> str:
    """Return the calls broken in the way of this turn, or in the next way that changes them."""
    ways = [BREAKS[(turn + further) % len(BREAKS)] for further in range(len(BREAKS))]
    texts = ("\n".join(map(way, calls)) for way in ways)
    return next(text for text in texts if text != hermes(calls))


def _tagged(body: str) -> str:
    return f"<tool_call>\n{body}\n</tool_call>"


def single_quotes(call: SimulatedCall) -> str:
    return _tagged(repr(as_object(call)))


def trailing_comma(call: SimulatedCall) -> str:
    return _tagged(json.dumps(as_object(call))[:-1] + ",}")


def missing_brace(call: SimulatedCall) -> str:
    return _tagged(json.dumps(as_object(call))[:-1])


def raw_newline(call: SimulatedCall) -> str:
    return _tagged(json.dumps(as_object(call)).replace("\\n", "\n"))


def arguments_as_text(call: SimulatedCall) -> str:
    return _tagged(json.dumps({"name": call.name, "arguments": json.dumps(call.arguments)}))


def unclosed_tag(call: SimulatedCall) -> str:
    return f"<tool_call>\n{json.dumps(as_object(call))}"


BREAKS: tuple[Callable[[SimulatedCall], str], ...] = (
    single_quotes,
    trailing_comma,
    missing_brace,
    raw_newline,
    arguments_as_text,
    unclosed_tag,
)
