"""The requests of a test: harmless tools, plain demands, secrets that cannot be guessed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from toolsupport.core.types import ChatMessage, Role, ToolCall, ToolSpec

# Neither letters nor digits that a tokenizer or a reader takes for one another.
ALPHABET = "ACDEFHJKLMNPRTUVWXY34679"
# Replacing words by tools is what is measured, so the names say nothing of files, shells or the web.
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
# What runs programs, for calls that are written as code; like the other tools it executes nothing here.
PROGRAM = ToolSpec(
    "python_execution",
    "Runs a Python program in which the other tools are functions, and returns what it prints.",
    {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
)


@dataclass(frozen=True, slots=True)
class ProbePrompt:
    """A demand for one call of lookup_ticket: a right one carries just these arguments."""

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
    """A greeting in words of its own: the same one again would have the same answer."""
    return (ChatMessage(Role.USER, f"Hello, I am {chance.choice(NAMES)}! Please greet me back in one short sentence."),)


def demand(chance: random.Random) -> ProbePrompt:
    """A demand nobody has seen before."""
    return ProbePrompt(secret(chance), chance.randint(2, 9))


def secret(chance: random.Random) -> str:
    """Seven signs that can only be right when they were copied, such as `K7F-3XDP`."""
    signs = [chance.choice(ALPHABET) for _ in range(7)]
    return f"{''.join(signs[:3])}-{''.join(signs[3:])}"


def answered(asked: ProbePrompt, calls: Sequence[ToolCall], seat: str) -> tuple[ChatMessage, ...]:
    """The conversation after the call was served: the seat stands nowhere but in the result."""
    call = calls[0]
    return (
        *asked.messages,
        ChatMessage(Role.ASSISTANT, calls=(call,)),
        ChatMessage(Role.TOOL, f"Ticket {asked.ticket}: seat {seat}.", call_id=call.id, name=call.name),
    )


def both(one: ProbePrompt, other: ProbePrompt) -> tuple[ChatMessage, ...]:
    """A demand for two calls at once."""
    words = (
        "Call the tool lookup_ticket twice, both calls at once in one answer: "
        f'once with ticket "{one.ticket}" and copies {one.copies}, '
        f'and once with ticket "{other.ticket}" and copies {other.copies}.'
    )
    return (ChatMessage(Role.USER, words),)
