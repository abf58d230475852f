"""Tests which of the file tools and whether a shell the model calls, natively or only through the shell."""

from __future__ import annotations

from toolsupport.core.call_building import compact
from toolsupport.core.file_access_refusals import claims_no_file_access
from toolsupport.core.outcomes import TrialOutcome, of_step
from toolsupport.core.sentences import sentence
from toolsupport.core.side_findings import BESIDE_A_SHELL, MOST, decided, results
from toolsupport.core.types import ChatMessage, Role, ToolSpec
from toolsupport.detection.grading import shortened
from toolsupport.detection.probe_reply import ProbeReply, trouble
from toolsupport.detection.probe_runner import ProbeRunner


def _spec(name: str, description: str, *required: str) -> ToolSpec:
    properties = {argument: {"type": "string"} for argument in required}
    return ToolSpec(name, description, {"type": "object", "properties": properties, "required": list(required)})


# Dummies: they have the names of the real ones and run nothing, since calls of a test are not served.
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
    "edit_file": (
        _spec("edit_file", "Replaces one place in a text file.", "path", "old", "new"),
        "Replace “hello” by “goodbye” in the file {}.txt.",
    ),
    "bash": (BASH, "Run the command `ls {}` in bash."),
}
# Each trial names another file, since the same question again would have the same answer.
NAMES = ("notes", "reports", "greeting", "plans", "letters", "recipes", "travel", "budget", "garden", "music")

QUESTION_MARKS = ("?", "？", "؟", "\u037e")  # the last two are Arabic and Greek
LONGEST_QUESTION = 400
LONGEST_END = 80  # a courtesy may follow: "Please confirm."


async def run(runner: ProbeRunner) -> None:
    """Offer each tool alone; a refused file tool once more with a shell, a refused shell once more alone."""
    for name, (spec, wish) in FILE_TOOLS.items():
        while not runner.sampled("per_tool", name):
            await _try(runner, name, wish, (spec,))
        if not runner.first_round and decided(results(runner.outcomes, "per_tool", name)) is False:
            await _beside_a_shell(runner, name, wish, (BASH,) if spec is BASH else (spec, BASH))


async def _beside_a_shell(runner: ProbeRunner, name: str, wish: str, tools: tuple[ToolSpec, ...]) -> None:
    """Run trials until enough agree on whether the shell does the tool's work."""
    tried: list[TrialOutcome] = []
    while len(of_step(runner.outcomes, "per_tool", name)) < MOST:
        tried.append(await _try(runner, name, wish, tools))
        codes = [outcome.code for outcome in tried]
        if max(codes.count("via_bash"), len(codes) - codes.count("via_bash")) >= BESIDE_A_SHELL:
            return


async def _try(runner: ProbeRunner, name: str, wish: str, tools: tuple[ToolSpec, ...]) -> TrialOutcome:
    about = f"{runner.chance.choice(NAMES)}{runner.chance.randint(10, 99)}"
    question = runner.offering((ChatMessage(Role.USER, wish.format(about)),), tools)
    reply = await runner.ask(question)
    outcome = TrialOutcome("per_tool", *(trouble(reply) or judged(reply, name, about)), question.streamed, name)
    await runner.note(question, reply, outcome)
    return outcome


def judged(reply: ProbeReply, name: str, about: str) -> tuple[str, str]:
    """Return (code, why) of a request that names `about`.

    A server's grammar can force the name of the only tool, but not the requested file: so the arguments decide.
    """
    tools = {name: ("right", sentence("called_tool", tool=name))}
    tools.setdefault(BASH.name, ("via_bash", sentence("used_bash", tool=name)))
    made = [(call.name, compact(call.arguments), "") for call in reply.calls]
    made += [(call.name, call.raw, call.reason) for call in reply.rejected]
    for tool, (code, why) in tools.items():
        written = [(text, reason) for called, text, reason in made if called == tool]
        right = [reason for text, reason in written if about in text.lower()]
        if right:
            return code, why if "" in right else sentence("call_did_not_fit", called=why, reason=right[0])
        if written:
            elsewhere = sentence("called_for_else", tool=tool, wanted=about, written=shortened(written[0][0]))
            return "proves_nothing", elsewhere
    if _asks_back(reply.text):
        return "proves_nothing", sentence("asked_back", text=shortened(reply.text))
    return "no_call", sentence("did_not_call", tool=name, text=shortened(reply.text))


def _asks_back(text: str) -> bool:
    """Return whether a short answer ends in a question, and so waits for a person, without denying the ability."""
    questions = any(mark in text[-LONGEST_END:] for mark in QUESTION_MARKS)
    return questions and len(text) <= LONGEST_QUESTION and not claims_no_file_access(text)
