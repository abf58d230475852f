"""Defines the tool `bash`, which runs a shell command."""

from __future__ import annotations

from chat.sentences import sentence
from chat.tools.files.text_decoding import size_in_words
from chat.tools.sandbox import concurrency, self_test, shell_process
from chat.tools.sandbox.self_test_cache import cached_test
from chat.tools.sandbox.shell_process import LIMITS, CommandResult
from chat.tools.tool import Preview, Tool, ToolContext, text
from toolsupport.core.errors import ToolError
from toolsupport.core.types import JSON, ToolResult, ToolSpec

SPEC = ToolSpec(
    "bash",
    "Run a command with bash in the workspace and get what it prints. There is no network, nothing outside of the "
    f"workspace can be changed, and after {LIMITS.seconds:g} seconds it is stopped.",
    {
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "The command, for example: python3 -m unittest"},
        },
        "required": ["command"],
        "additionalProperties": False,
    },
)


async def run(context: ToolContext, arguments: JSON) -> ToolResult:
    """Return the command's output, then its exit if it was not successful."""
    command = _command(arguments)
    async with concurrency.COMMANDS.entered(context):
        ended = await shell_process.run(context.workspace, command, context.say)
    notes = _notes(ended)
    output = ended.output.rstrip("\n")
    return ToolResult("\n".join(filter(None, [output, *notes])) or "[It printed nothing.]", is_error=bool(ended.why))


def _notes(ended: CommandResult) -> list[str]:
    notes = []
    if ended.cut:
        notes.append(f"[Cut here: these are the first {size_in_words(LIMITS.output)} of what it printed.]")
    if ended.why:
        notes.append(f"[It was stopped: {ended.why}.]")
    elif ended.code:
        notes.append(f"[It ended with exit code {ended.code}.]")
    return notes


def preview(context: ToolContext, arguments: JSON) -> Preview:
    """Show the whole command."""
    return Preview(sentence("run_command"), code=_command(arguments))


def _command(arguments: JSON) -> str:
    command = text(arguments, "command")
    if not command.strip():
        raise ToolError("The command is empty.")
    return command


# The sandbox ends a command itself and keeps its output; this limit is for the case that it fails to.
TOOL = Tool(
    SPEC,
    run,
    level="A3",
    phrase="Run",
    target="command",
    timeout=concurrency.PATIENCE + LIMITS.seconds + 10,
    preview=preview,
    taints=True,
    needs=cached_test(lambda: self_test.why_not()),
)
