"""Tries which of the file tools the model calls, natively or only through a shell."""

from __future__ import annotations

from toolsupport.core.verdicts import Outcome
from toolsupport.core.words import Message, Role, ToolSpec
from toolsupport.detection.judging import quoted
from toolsupport.detection.laboratory import Laboratory, Question, Reply, trouble


def _spec(name: str, description: str, *required: str) -> ToolSpec:
    properties = {argument: {"type": "string"} for argument in required}
    return ToolSpec(name, description, {"type": "object", "properties": properties, "required": list(required)})


# Dummies: they have the names of the real ones and execute nothing, since nobody serves the calls of a test.
BASH = _spec("bash", "Runs a command in the shell of the workspace.", "command")
FILE_TOOLS = {
    "read_file": (_spec("read_file", "Reads a text file.", "path"), "Show me what is in the file notes.txt."),
    "write_file": (
        _spec("write_file", "Writes a text file.", "path", "content"),
        "Write the line “hello” into the file greeting.txt.",
    ),
    "list_directory": (
        _spec("list_directory", "Lists the entries of a directory.", "path"),
        "List what is in the folder reports.",
    ),
}


async def run(lab: Laboratory) -> None:
    """Each file tool alone; where it is refused, once more with a shell beside it."""
    for name, (spec, wish) in FILE_TOOLS.items():
        outcome = await _try(lab, name, wish, (spec,))
        if outcome.code == "no_call":
            await _try(lab, name, wish, (spec, BASH))


async def _try(lab: Laboratory, name: str, wish: str, tools: tuple[ToolSpec, ...]) -> Outcome:
    question = Question((Message(Role.USER, wish),), tools)
    reply = await lab.ask(question)
    outcome = Outcome("per_tool", *(trouble(reply) or _told(reply, name)), subject=name)
    await lab.note(question, reply, outcome)
    return outcome


def _told(reply: Reply, name: str) -> tuple[str, str]:
    called = [call.name for call in reply.calls]
    if name in called:
        return "right", f"It called {name}."
    if BASH.name in called:
        return "via_bash", f"It did the work of {name} through bash."
    return "no_call", f"It did not call {name} and wrote: {quoted(reply.text)}"
