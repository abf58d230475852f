"""Defines a `bash` without a shell, which lists the commands that file tools can run."""

from __future__ import annotations

from chat.tools.tool import Tool, ToolContext
from toolsupport.core.errors import ToolError
from toolsupport.core.shell_translation import COMMANDS
from toolsupport.core.types import JSON, ToolResult

NO_SHELL = (
    "This command was not run: there is no shell here. Possible are one of cat FILE, head -n 20 FILE, tail -n 20 FILE, "
    "ls [-R] [DIRECTORY], printf 'TEXT\\n' > FILE, echo TEXT > FILE, cat > FILE <<'EOF' with the text under it, and "
    "sed -i 's/old/new/' FILE where old is plain text that occurs once. Write >> to add at the end. Paths start in the "
    "workspace, without a slash; no pipes, variables, patterns, or several commands at once."
)


async def run(context: ToolContext, arguments: JSON) -> ToolResult:
    """Refuse: commands that another tool can run never reach this function."""
    raise ToolError(NO_SHELL)


STAND_IN = Tool(COMMANDS, run, level="A0", phrase="Asked for", target="command")
