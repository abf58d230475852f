"""Defines what a step of a Python program takes and returns, without loading its sandbox."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from toolsupport.core import sanitize

SECONDS = 5.0
MEMORY = 128 * 1024 * 1024


@dataclass(slots=True)
class PrintedOutput:
    """The first `most` characters of a program's output; `say` shows it to people at once."""

    most: int
    say: Callable[[str], None]
    text: str = ""
    more: bool = False

    def take(self, _: str, text: str) -> None:
        """Called by the sandbox, from a thread of its own."""
        room = self.most - len(self.text)
        self.more = self.more or len(text) > room
        kept = sanitize.text(text[:room]) if room > 0 else ""
        if kept:
            self.text += kept
            self.say(kept)


@dataclass(frozen=True, slots=True)
class PythonLimits:
    """`seconds` are left of the whole program's time, which stops while a tool runs."""

    seconds: float = SECONDS
    memory: int = MEMORY


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The program ran to its end. `value` is that of its last line."""

    value: object


@dataclass(frozen=True, slots=True)
class ProgramError:
    """The program ended with an error, formatted as Python does."""

    error: str


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """The program called a function; `state` is the input of `go_on`. It had run for `seconds` until then."""

    name: str
    args: tuple[object, ...]
    named: Mapping[str, object] = field(default_factory=dict)
    state: bytes = b""
    seconds: float = 0.0


StepResult = ProgramResult | ProgramError | FunctionCall


@dataclass(frozen=True, slots=True)
class FunctionResult:
    """The result of a function: a value, or the name of a Python exception with its message in `value`."""

    value: object
    error: str = ""
