"""Defines the tool `memory_dump`, which replaces the memory of a conversation."""

from __future__ import annotations

from chat.sentences import sentence
from chat.tools.diff_preview import basis_of, lines_in_words
from chat.tools.stores import MemoryStore
from chat.tools.tool import Preview, Tool, ToolContext, text
from toolsupport.core.errors import ToolError
from toolsupport.core.text_diff import TextChange
from toolsupport.core.types import JSON, ToolResult, ToolSpec

MOST_BYTES = 16 * 1024

SPEC = ToolSpec(
    "memory_dump",
    "Write down what must not be forgotten in this conversation, for example when a person asks you to remember "
    "something. You are shown it again with every later message. The text replaces all that was written down before: "
    "repeat what is still true.",
    {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "Everything to be remembered, one fact on a line"},
        },
        "required": ["text"],
        "additionalProperties": False,
    },
)


async def run(context: ToolContext, arguments: JSON) -> ToolResult:
    """Replace the memory, unless a person changed it since the model or the approving person last saw it."""
    memory, wanted = memory_of(context), checked(text(arguments, "text"))
    await memory.write(wanted, context.basis or basis_of(memory.text))
    return ToolResult(f"Remembered {lines_in_words(wanted)}." if wanted.strip() else "The memory is empty now.")


def preview(context: ToolContext, arguments: JSON) -> Preview:
    """Show the change."""
    memory, wanted = memory_of(context), checked(text(arguments, "text"))
    asked = sentence("remember", lines=lines_in_words(wanted)) if wanted.strip() else sentence("forget_all")
    return Preview(asked, change=TextChange("memory", memory.text, wanted.strip()), basis=basis_of(memory.text))


def checked(wanted: str) -> str:
    """Return the text if it is short enough to be sent with every message. Raises ToolError."""
    size = len(wanted.encode(errors="replace"))
    if size > MOST_BYTES:
        raise ToolError(f"The memory may have {MOST_BYTES:,} bytes at most, this text has {size:,}. Shorten it.")
    return wanted


def memory_of(context: ToolContext) -> MemoryStore:
    """Return the memory. Raises ToolError outside a conversation."""
    if context.memory is None:
        raise ToolError("Nothing can be remembered outside a conversation.")
    return context.memory


TOOL = Tool(SPEC, run, level="A2", phrase="Remember", target="text", preview=preview)
