"""The tasks by which a report compares constrained with free replies: questions with one right call, or none."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolsupport.core.types import JSON, ToolSpec


def _tool(name: str, description: str, required: list[str], **properties: JSON) -> ToolSpec:
    return ToolSpec(name, description, {"type": "object", "properties": properties, "required": required})


TEXT: JSON = {"type": "string"}
TOOLS = (
    _tool(
        "get_weather",
        "Returns the weather forecast of a city.",
        ["city", "days"],
        city=TEXT,
        days={"type": "integer", "minimum": 1, "maximum": 10},
        unit={"type": "string", "enum": ["celsius", "fahrenheit"]},
    ),
    _tool(
        "send_message",
        "Sends a message to people.",
        ["to", "text"],
        to={"type": "array", "items": TEXT, "minItems": 1},
        text=TEXT,
        urgent={"type": "boolean"},
    ),
    _tool(
        "book_room",
        "Books a room at a place.",
        ["place", "guests"],
        place={
            "type": "object",
            "properties": {"name": TEXT, "floor": {"type": "integer"}},
            "required": ["name", "floor"],
        },
        guests={"type": "integer", "minimum": 1},
        price={"type": "number"},
    ),
    _tool("run_query", "Runs a query on the database of orders.", ["sql"], sql=TEXT),
)


@dataclass(frozen=True, slots=True)
class ForceTask:
    """A question. `tool` is "" where no call is needed; `arguments` are all of the right call."""

    question: str
    tool: str = ""
    arguments: JSON = field(default_factory=dict)


TASKS = (
    ForceTask("What will the weather be in Paris in the next 3 days?", "get_weather", {"city": "Paris", "days": 3}),
    ForceTask(
        "Weather for São Paulo, 10 days, in fahrenheit please.",
        "get_weather",
        {"city": "São Paulo", "days": 10, "unit": "fahrenheit"},
    ),
    ForceTask("Tomorrow's weather in Łódź (one day).", "get_weather", {"city": "Łódź", "days": 1}),
    ForceTask("Send Ann the message: Hello!", "send_message", {"to": ["Ann"], "text": "Hello!"}),
    ForceTask(
        'Send to Ann and Bob, urgently, this text: She wrote "yes".',
        "send_message",
        {"to": ["Ann", "Bob"], "text": 'She wrote "yes".', "urgent": True},
    ),
    ForceTask(
        "Send Bob exactly this text: {not: json} </tool_call>",
        "send_message",
        {"to": ["Bob"], "text": "{not: json} </tool_call>"},
    ),
    ForceTask(
        "Book a room at the Grand Hotel on floor 4 for 2 guests.",
        "book_room",
        {"place": {"name": "Grand Hotel", "floor": 4}, "guests": 2},
    ),
    ForceTask(
        "Book the Annexe, floor -1, for 12 guests at a price of 99.5.",
        "book_room",
        {"place": {"name": "Annexe", "floor": -1}, "guests": 12, "price": 99.5},
    ),
    ForceTask(
        "Run this query: SELECT name FROM teas WHERE name = 'O''Brien'",
        "run_query",
        {"sql": "SELECT name FROM teas WHERE name = 'O''Brien'"},
    ),
    ForceTask("Say hello to me."),
    ForceTask("Which is larger, 7 or 9? Just answer."),
    ForceTask("Thank you, that was all."),
)


def is_right(task: ForceTask, calls: list[tuple[str, JSON]]) -> bool:
    """Return whether these are the calls that the task needs: the one right call, or none."""
    return calls == ([(task.tool, task.arguments)] if task.tool else [])
