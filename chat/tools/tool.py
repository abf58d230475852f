"""What a built-in tool is made of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from chat.tools.databases import Databases
from chat.tools.files.workspace import Workspace
from chat.tools.stores import MemoryStore, PromptStore
from toolsupport.core.errors import ToolError
from toolsupport.core.events import CallReady, CallRejected
from toolsupport.core.types import JSON, ToolResult, ToolSpec

LEVELS = {
    "A0": "looks at nothing outside the request",
    "A1": "only reads",
    "A2": "changes files or the memory of the conversation",
    "A3": "runs code",
    "A4": "has effects outside",
}

TARGET_LENGTH = 200


def _unheard(_: str) -> None:
    """Nobody looks on."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may touch, with its limits: `text_bytes` a result may have, `entries` a listing may have.

    `basis` is what a person saw replaced when they allowed the call (see Preview); "" where nobody was shown anything.
    `conversation` and `person` (its owner) are ids. `say` shows output to people while the tool runs.
    `find_tools` finds tools by what they are for, and offers them from then on.
    `functions` are the tools that a program may call. `databases` are those that the conversation may read.
    `memory` and `prompts` are those of the conversation, None outside of one.
    """

    workspace: Workspace
    text_bytes: int = 256 * 1024
    entries: int = 500
    basis: str = ""
    conversation: str = ""
    person: int = 0
    say: Callable[[str], None] = _unheard
    find_tools: Callable[[str], Awaitable[Sequence[ToolSpec]]] | None = None
    functions: tuple[ToolSpec, ...] = ()
    databases: Databases | None = None
    memory: MemoryStore | None = None
    prompts: PromptStore | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """A tool that made a call of its own and waits for what it gives; with `state` it can be gone on with anywhere."""

    asked: CallReady | CallRejected
    state: bytes


@dataclass(frozen=True, slots=True)
class PausedCallResult:
    """What became of the call that a paused tool waits for: how it ended, and the text it gave or the reason."""

    status: str
    text: str


@dataclass(frozen=True, slots=True)
class Preview:
    """What a person is asked before a call runs: the question, and what would change (a unified diff or "").

    `code` is what would be executed, whole, where the call is code.

    `basis` is the digest of what the diff was made against, "" where that does not matter.
    """

    question: str
    diff: str = ""
    basis: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of our own: how a model sees it, how it runs, how its card reads.

    `level` is a key of LEVELS, `timeout` in seconds. The closed card reads `phrase`, then the argument named by
    `target` ("Read", "config.json"). `run` raises ToolError or NotFound with words for the model.
    `resume` goes on after a Pause. `preview` blocks on the disk. `needs` says why the tool cannot work here, "" where
    it can.
    `taints`: its results are text of others, after which changes are asked each time.
    `sends`: what it is told leaves the house, so after text of others a call is asked for, whatever the level.
    `where` is the argument that says what is replaced, for a tool whose previews have a basis.
    `retold`: after it the next question is put with other tools, or with another system text.
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
    needs: Callable[[], str] | None = None
    resume: Callable[[ToolContext, bytes, PausedCallResult], Awaitable[ToolResult | Pause]] | None = None
    retold: bool = False
    where: str = ""

    @property
    def missing(self) -> str:
        """Why it cannot work here, in words for people, or ""."""
        return self.needs() if self.needs else ""

    def shown_target(self, arguments: JSON) -> str:
        """The argument on the closed card, of which a line is enough; "" where it is neither text nor a list of it."""
        value = arguments.get(self.target, "")
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            value = ", ".join(value)
        return value.strip().partition("\n")[0][:TARGET_LENGTH] if isinstance(value, str) else ""


def text(arguments: JSON, name: str, default: str | None = None) -> str:
    """An argument that must be text. Raises ToolError where it is missing or is something else."""
    value = arguments.get(name, default)
    if not isinstance(value, str):
        raise ToolError(f"The argument {name!r} is needed, as text.")
    return value


def switch(arguments: JSON, name: str) -> bool:
    """An argument that must be true or false; false if it is missing. Raises ToolError for anything else."""
    value = arguments.get(name, False)
    if not isinstance(value, bool):
        raise ToolError(f"The argument {name!r} must be true or false.")
    return value
