"""The tool bash: the output for the model, and the approval by a person (T3)."""

from __future__ import annotations

import pytest

from chat.tools import bash
from chat.tools.sandbox import shell_process
from chat.tools.sandbox.shell_process import CommandResult
from chat.tools.tool import ToolContext
from toolsupport.core.errors import ToolError

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize(
    ("ended", "content"),
    [
        (CommandResult("fine\n", 0), "fine"),
        (CommandResult("", 0), "[It printed nothing.]"),
        (CommandResult("no\n", 2), "no\n[It ended with exit code 2.]"),
        (CommandResult("", None, "it used too much"), "[It was stopped: it used too much.]"),
        (CommandResult("y", 0, cut=True), "y\n[Cut here: these are the first 256 KiB of what it printed.]"),
    ],
)
async def test_what_a_model_reads(
    context: ToolContext, ended: CommandResult, content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ran(*_: object) -> CommandResult:
        return ended

    monkeypatch.setattr(shell_process, "run", ran)
    result = await bash.run(context, {"command": "make"})
    assert result.content == content and result.is_error == bool(ended.why)


# T11
async def test_the_whole_command_is_asked_for(context: ToolContext) -> None:
    command = "echo one\n" * 5000
    preview = bash.preview(context, {"command": command})
    assert preview.code == command and preview.question == "Run this command?"
    assert bash.TOOL.level == "A3" and bash.TOOL.taints


@pytest.mark.parametrize("arguments", [{}, {"command": ""}, {"command": " \n"}, {"command": ["ls"]}])
async def test_what_is_no_command(context: ToolContext, arguments: dict[str, object]) -> None:
    with pytest.raises(ToolError):
        bash.preview(context, arguments)
    with pytest.raises(ToolError):
        await bash.run(context, arguments)
