"""Builds the requests of a test: harmless tools, plain tasks, secrets that cannot be guessed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from toolsupport.core.types import ChatMessage, Role, ToolCall, ToolSpec

# Without letters and digits that a tokenizer or a reader confuses.
ALPHABET = "ACDEFHJKLMNPRTUVWXY34679"
# The test measures tool use, so the names do not mention files, shells or the web.
TICKET = ToolSpec(
    "lookup_ticket",
    "Looks up a ticket of the cinema and returns its seat.",
    {
        "type": "object",
        "properties": {
            "ticket": {"type": "string", "description": "The code printed on the ticket."},
            "copies": {"type": "integer", "description": "How many copies of it there are."},
        },
        "required": ["ticket", "copies"],
    },
)
ROOMS = ToolSpec(
    "list_rooms",
    "Lists the rooms of a building.",
    {"type": "object", "properties": {"building": {"type": "string"}}, "required": ["building"]},
)
TOOLS = (TICKET, ROOMS)
GREETING = (ChatMessage(Role.USER, "Hello! Please greet me back in one short sentence."),)
NAMES = ("Ada", "Bruno", "Chiara", "Deniz", "Emil", "Fatima", "Goran", "Hana", "Ines", "Jonas", "Kofi", "Lin")
# The tool that runs programs, for calls that are written as code; like the other tools it executes nothing here.
PROGRAM = ToolSpec(
    "python_execution",
    "Runs a Python program in which the other tools are functions, and returns what it prints.",
    {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
)


@dataclass(frozen=True, slots=True)
class ProbePrompt:
    """A request for one call of lookup_ticket with exactly these arguments."""

    ticket: str
    copies: int

    @property
    def words(self) -> str:
        return (
            f'Call the tool lookup_ticket with ticket "{self.ticket}" and copies {self.copies}. '
            "Then tell me the seat that it returns."
        )

    @property
    def messages(self) -> tuple[ChatMessage, ...]:
        return (ChatMessage(Role.USER, self.words),)


def greeting(chance: random.Random) -> tuple[ChatMessage, ...]:
    """Return a new greeting: a repeated one would get the same answer."""
    return (ChatMessage(Role.USER, f"Hello, I am {chance.choice(NAMES)}! Please greet me back in one short sentence."),)


def demand(chance: random.Random) -> ProbePrompt:
    """Return a request that was never sent before."""
    return ProbePrompt(secret(chance), chance.randint(2, 9))


def secret(chance: random.Random) -> str:
    """Return seven characters that a model can only copy, such as `K7F-3XDP`."""
    signs = [chance.choice(ALPHABET) for _ in range(7)]
    return f"{''.join(signs[:3])}-{''.join(signs[3:])}"


def answered(asked: ProbePrompt, calls: Sequence[ToolCall], seat: str) -> tuple[ChatMessage, ...]:
    """Return the messages after the call was served: only the result contains the seat."""
    call = calls[0]
    return (
        *asked.messages,
        ChatMessage(Role.ASSISTANT, calls=(call,)),
        ChatMessage(Role.TOOL, f"Ticket {asked.ticket}: seat {seat}.", call_id=call.id, name=call.name),
    )


def both(one: ProbePrompt, other: ProbePrompt) -> tuple[ChatMessage, ...]:
    """Return a request for two calls at once."""
    words = (
        "Call the tool lookup_ticket twice, both calls at once in one answer: "
        f'once with ticket "{one.ticket}" and copies {one.copies}, '
        f'and once with ticket "{other.ticket}" and copies {other.copies}.'
    )
    return (ChatMessage(Role.USER, words),)
