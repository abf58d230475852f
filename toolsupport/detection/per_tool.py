"""Tries which of the file tools the model calls, natively or only through a shell."""

from __future__ import annotations

from toolsupport.core.outcomes import Outcome, of_step
from toolsupport.core.side_findings import BESIDE_A_SHELL, MOST, decided, results, settled
from toolsupport.core.types import Message, Role, ToolSpec
from toolsupport.detection.grading import quoted
from toolsupport.detection.probe_reply import Reply, trouble
from toolsupport.detection.probe_runner import Laboratory


def _spec(name: str, description: str, *required: str) -> ToolSpec:
    properties = {argument: {"type": "string"} for argument in required}
    return ToolSpec(name, description, {"type": "object", "properties": properties, "required": list(required)})


# Dummies: they have the names of the real ones and execute nothing, since nobody serves the calls of a test.
BASH = _spec("bash", "Runs a command in the shell of the workspace.", "command")
FILE_TOOLS = {
    "read_file": (_spec("read_file", "Reads a text file.", "path"), "Show me what is in the file {}.txt."),
    "write_file": (
        _spec("write_file", "Writes a text file.", "path", "content"),
        "Write the line “hello” into the file {}.txt.",
    ),
    "list_directory": (
        _spec("list_directory", "Lists the entries of a directory.", "path"),
        "List what is in the folder {}.",
    ),
}
# Each trial names another file, since the same question again would have the same answer.
NAMES = ("notes", "reports", "greeting", "plans", "letters", "recipes", "travel", "budget", "garden", "music")


async def run(lab: Laboratory) -> None:
    """Each file tool alone; where it is refused, again with a shell beside it."""
    for name, (spec, wish) in FILE_TOOLS.items():
        while not settled(lab.outcomes, "per_tool", lab.agreeing, name):
            await _try(lab, name, wish, (spec,))
        if decided(results(lab.outcomes, "per_tool", name)) is False:
            await _beside_a_shell(lab, name, wish, (spec, BASH))


async def _beside_a_shell(lab: Laboratory, name: str, wish: str, tools: tuple[ToolSpec, ...]) -> None:
    """Until enough trials agree on whether the shell does the tool's work."""
    tried: list[Outcome] = []
    while len(of_step(lab.outcomes, "per_tool", name)) < MOST:
        tried.append(await _try(lab, name, wish, tools))
        codes = [outcome.code for outcome in tried]
        if max(codes.count("via_bash"), len(codes) - codes.count("via_bash")) >= BESIDE_A_SHELL:
            return


async def _try(lab: Laboratory, name: str, wish: str, tools: tuple[ToolSpec, ...]) -> Outcome:
    about = f"{lab.chance.choice(NAMES)}{lab.chance.randint(10, 99)}"
    question = lab.offering((Message(Role.USER, wish.format(about)),), tools)
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
