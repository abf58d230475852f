"""Makes calls with awkward values, and writes them in each format as a model would."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from toolsupport.core.formats import FORMATS
from toolsupport.core.types import ToolCall
from toolsupport.simulator.languages import objects, pythonic, tags
from toolsupport.simulator.types import SimulatedCall

Gold = list[tuple[str, dict[str, Any]]]


@dataclass(frozen=True)
class Task:
    """The tools that are offered, and the calls that a reply holds."""

    name: str
    tools: dict[str, dict[str, Any]]
    calls: Gold


# Tasks of others; where there are none, a seed makes one.
TASKS: list[Task] = []

# The Simulator shares no code with the parsers; the other formats are written by their own writers.
INDEPENDENT: dict[str, Callable[[Sequence[SimulatedCall]], str]] = {
    "hermes": objects.hermes,
    "mistral": objects.mistral,
    "mistral_args": objects.mistral_args,
    "pure_json": objects.plain,
    "llama3_json": objects.llama3,
    "pythonic": pythonic.plain,
    "llama4_pythonic": pythonic.llama4,
    "lfm2_pythonic": pythonic.lfm2,
    "olmo3_pythonic": pythonic.olmo3,
    "qwen3_coder_xml": tags.qwen3_coder,
}
# Code runs only in this site's sandbox, `auto` only searches text for calls, and a forced reply needs a server that
# was found to enforce schemas.
TEXT = tuple(name for name in FORMATS if name not in ("code_mode", "auto", "forced_json"))
# Where a reply has only one call.
SINGLE = {"llama3_json", "react"}
NATIVE = "native"

CITIES = ("Paris", "São Paulo", "東京", "Reykjavík", "N'Djamena", 'the "Hague"', "Łódź", "القاهرة")
TEXTS = (
    'She said "yes", then left.',
    "It's 5 o'clock",
    "C:\\temp\\new.txt",
    "line one\nline two\n\nline four",
    "a\tb",
    "{not: json}",
    '{"name": "x", "arguments": {}}',
    "[1, 2, 3]",
    "true",
    "42",
    "null",
    "<b>bold</b> & <i>x</i>",
    "if a < b and c > d: pass",
    "def f(x):\n    return f(x - 1) if x else 'ende'",
    "SELECT * FROM t WHERE name = 'O''Brien';",
    "100 % — «naïve» … 🎉👩‍💻",
    "https://example.org/a?b=c&d=%20#e",
    "x = {'a': [1, (2, 3)]}  # note",
    "`code` and ``more``",
    "key: value, other=thing",
)


def parameters(required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


TEXT_TYPE = {"type": "string"}
TOOLS: dict[str, dict[str, Any]] = {
    "get_weather": parameters(
        ["city"], city=TEXT_TYPE, unit={"type": "string", "enum": ["celsius", "fahrenheit"]}, days={"type": "integer"}
    ),
    "send_message": parameters(["to", "text"], to=TEXT_TYPE, text=TEXT_TYPE, urgent={"type": "boolean"}),
    # Its native calls are sent on piece by piece, those of the others when they are whole.
    "rename_file": parameters(["old", "new"], old=TEXT_TYPE, new=TEXT_TYPE),
    "calculate_loan": parameters(
        ["amount", "rate"], amount={"type": "number"}, rate={"type": "number"}, years={"type": "integer"}
    ),
    "create_event": parameters(
        ["title", "guests"],
        title=TEXT_TYPE,
        guests={"type": "array", "items": TEXT_TYPE},
        place={"type": "object", "properties": {"name": TEXT_TYPE, "floor": {"type": "integer"}}},
    ),
}


def call(chance: random.Random) -> tuple[str, dict[str, Any]]:
    """A call whose arguments fit the schema of its tool."""
    name = chance.choice(list(TOOLS))
    schema = TOOLS[name]
    chosen = [key for key in schema["properties"] if key in schema["required"] or chance.random() < 0.5]
    return name, {key: value(schema["properties"][key], key, chance) for key in chosen}


def value(schema: dict[str, Any], key: str, chance: random.Random) -> Any:
    made: dict[str, Callable[[], Any]] = {
        "string": lambda: chance.choice(schema.get("enum") or (CITIES if key in ("city", "to", "name") else TEXTS)),
        "integer": lambda: chance.choice((0, 1, 7, -3, 120)),
        "number": lambda: chance.choice((0.5, 1250.75, -2.25, 3, 1e-6)),
        "boolean": lambda: chance.random() < 0.5,
        "array": lambda: [value(schema["items"], key, chance) for _ in range(chance.randint(0, 3))],
        "object": lambda: {name: value(one, name, chance) for name, one in schema["properties"].items()},
    }
    return made[schema["type"]]()


def task(seed: int, format: str) -> Task:
    """The task of a seed."""
    if not TASKS:
        return Task(str(seed), TOOLS, made(seed, format))
    found = TASKS[seed % len(TASKS)]
    return Task(found.name, found.tools, found.calls[:1]) if format in SINGLE else found


def calls(seed: int, format: str) -> Gold:
    """The calls of one reply."""
    return task(seed, format).calls


def made(seed: int, format: str) -> Gold:
    """One to five calls of one reply, different ones."""
    chance = random.Random(seed)
    chosen: Gold = []
    wanted = 1 if format in SINGLE else chance.randint(1, 5)
    while len(chosen) < wanted:
        one = call(chance)
        chosen += [] if one in chosen else [one]
    return chosen


def written(format: str, gold: Gold) -> str:
    """The calls as text."""
    if format in INDEPENDENT:
        return INDEPENDENT[format]([SimulatedCall(name, arguments) for name, arguments in gold])
    asked = [ToolCall(f"call_{number}", name, arguments) for number, (name, arguments) in enumerate(gold)]
    return FORMATS[format].write_calls(asked)
