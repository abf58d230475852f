"""Defines a built-in tool and its context."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from chat.tools.database_interface import Databases
from chat.tools.files.workspace import Workspace
from chat.tools.stores import MemoryStore, PromptStore
from toolsupport.core.errors import ToolError
from toolsupport.core.events import CallReady, CallRejected
from toolsupport.core.text_diff import TextChange
from toolsupport.core.types import JSON, ToolResult, ToolSpec

LEVELS = {
    "A0": "looks at nothing outside the request",
    "A1": "only reads",
    "A2": "changes files or the memory of the conversation",
    "A3": "runs code",
    "A4": "has effects outside",
}

TARGET_LENGTH = 200


def _ignore_output(_: str) -> None:
    """Drop the output: the default observer."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may access, with its limits: `text_bytes` of a result, `entries` of a listing.

    `basis` is the digest of the content that a person saw replaced when they allowed the call (see Preview); "" if no
    one was asked. `conversation` and `person` (its owner) are ids. `say` shows output to people while the tool runs.
    `find_tools` searches tools by purpose, and offers them from then on. `functions` are the tools that a program may
    call. `databases` are those that the conversation may read. `memory` and `prompts` are those of the conversation,
    None outside one.
    """

    workspace: Workspace
    text_bytes: int = 256 * 1024
    entries: int = 500
    basis: str = ""
    conversation: str = ""
    person: int = 0
    say: Callable[[str], None] = _ignore_output
    find_tools: Callable[[str], Awaitable[Sequence[ToolSpec]]] | None = None
    functions: tuple[ToolSpec, ...] = ()
    databases: Databases | None = None
    memory: MemoryStore | None = None
    prompts: PromptStore | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """A tool made a call of its own and waits for its result; it can continue from `state` anywhere."""

    asked: CallReady | CallRejected
    state: bytes


@dataclass(frozen=True, slots=True)
class PausedCallResult:
    """The result of the call that a paused tool waits for: its status, and its text or the reason."""

    status: str
    text: str


@dataclass(frozen=True, slots=True)
class Preview:
    """The question to a person before a call runs, and the `change` of a text, of which a diff is shown.

    `code` is all the code that would run, if the call is code. `basis` is the digest of the text that would be changed,
    "" if that does not matter. `size` is how much would change ("5 lines become 3").
    """

    question: str
    change: TextChange | None = None
    basis: str = ""
    code: str = ""
    size: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A built-in tool: its definition for the model, its function, the text of its card.

    `level` is a key of LEVELS, `timeout` in seconds. The closed card shows `phrase`, then the argument named by
    `target` ("Read", "config.json"). `run` raises ToolError or NotFound with a message for the model. `resume`
    continues after a Pause. `preview` blocks on the disk. `needs` returns why the tool is not available, "" if it can.
    `taints`: its results are outside content, after which changes need approval each time. `sends`: its arguments leave
    the site, so with outside content each call needs approval, whatever the level; the same if it `steers`: it
    changes the system prompt of later answers, on other branches too.
    `where` is the argument that names the replaced file, for a tool whose previews have a basis.
    `retold`: after it the next request has other tools, or another system prompt.
    """

    spec: ToolSpec
    run: Callable[[ToolContext, JSON], Awaitable[ToolResult | Pause]]
    level: str
    phrase: str
    target: str = ""
    timeout: float = 30.0
    preview: Callable[[ToolContext, JSON], Preview] | None = None
    taints: bool = False
    sends: bool = False
    steers: bool = False
    needs: Callable[[], str] | None = None
    resume: Callable[[ToolContext, bytes, PausedCallResult], Awaitable[ToolResult | Pause]] | None = None
    retold: bool = False
    where: str = ""

    @property
    def missing(self) -> str:
        """Return why it is not available, for people, or ""."""
        return self.needs() if self.needs else ""

    def shown_target(self, arguments: JSON) -> str:
        """Return the argument for the closed card, on one line; "" if it is neither text nor a list of it."""
        value = arguments.get(self.target, "")
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            value = ", ".join(value)
        return value.strip().partition("\n")[0][:TARGET_LENGTH] if isinstance(value, str) else ""


def text(arguments: JSON, name: str, default: str | None = None) -> str:
    """Return an argument that must be text. Raises ToolError if it is missing or of another type."""
    value = arguments.get(name, default)
    if not isinstance(value, str):
        raise ToolError(f"The argument {name!r} is needed, as text.")
    return value


def switch(arguments: JSON, name: str) -> bool:
    """Return an argument that must be true or false; false if missing. Raises ToolError for another type."""
    value = arguments.get(name, False)
    if not isinstance(value, bool):
        raise ToolError(f"The argument {name!r} must be true or false.")
    return value
