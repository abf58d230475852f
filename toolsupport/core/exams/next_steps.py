"""Lists the steps that may help a model that failed an exam, by its failures and its server."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

# Ollama calls tools from this version on, and reports what a model can do from the later one on.
TOOLS_SINCE, CAPABILITIES_SINCE = (0, 3, 0), (0, 6, 4)
UNNUMBERED = (0, 0, 0)  # the version of a server that a person built
CALLS = frozenset({"single", "choice", "types", "nested", "parallel", "own"})
LONG = frozenset({"history", "turns"})
OTHER_FORMATS = ("hermes", "pure_json")  # formats to try if native calls failed
NATIVE = "native"

STEPS: Mapping[str, str] = MappingProxyType(
    {
        "check_server": "The server failed during the exam. Check whether it answers.",
        "update_for_tools": "Ollama {version} does not call tools. Update it to 0.3.0 or newer.",
        "update_for_capabilities": "Ollama {version} does not report what a model can do. Update it to 0.6.4 or newer.",
        "set_flag": "The server lacks a setting for tools. Its page names the setting.",
        "other_format": "Run this exam in other call formats: {formats}.",
        "native_format": "Run this exam with native tool calls.",
        "pull_again": "Pull the model again: its template may be old.",
        "raise_context": "Raise the context to {context} tokens: cases with a long conversation failed.",
        "minimal_context": "Use the short prompt with tools: long conversations failed, single calls did not. "
        "The model then gets only the latest message of a person.",
        "test_again": "Test the model again, in case it changed.",
    }
)


@dataclass(frozen=True, slots=True)
class ExamFindings:
    """The findings of an exam: the failed groups, the used formats, the server's missing setting.

    `version` is that of the server, "" if unknown; `refused`: it refused tools; `failing`: it failed otherwise.
    `context` is the next larger context, 0 if it cannot be raised; `short`: the short prompt is in use already.
    """

    failed: Collection[str]
    formats: Collection[str]
    kind: str = ""
    version: str = ""
    failing: bool = False
    refused: bool = False
    lacks_flag: bool = False
    context: int = 0
    short: bool = False


def steps(found: ExamFindings) -> list[str]:
    """Return the codes of the steps, the likeliest first."""
    failed, native = {*found.failed}, NATIVE in found.formats
    calls, long = found.refused or bool(CALLS & failed), bool(LONG & failed)
    too_old = _older(found, TOOLS_SINCE)
    applies = {
        "check_server": found.failing and not found.refused,
        "update_for_tools": too_old,
        "update_for_capabilities": _older(found, CAPABILITIES_SINCE) and not too_old,
        "set_flag": found.lacks_flag,
        "other_format": calls and native and bool(other_formats(found)),
        "native_format": calls and not native and not found.refused,
        "pull_again": calls and found.kind == "ollama",
        "raise_context": long and found.context > 0,
        "minimal_context": long and not found.short and "single" not in failed,
        "test_again": bool(failed) or found.failing,
    }
    return [code for code, wanted in applies.items() if wanted]


def other_formats(found: ExamFindings) -> tuple[str, ...]:
    """Return the call formats to try that this exam did not use."""
    return tuple(name for name in OTHER_FORMATS if name not in found.formats)


def sentence(code: str, found: ExamFindings) -> str:
    """Return the text of a step."""
    return STEPS[code].format(
        version=found.version, formats=", ".join(other_formats(found)), context=f"{found.context:,}"
    )


def _older(found: ExamFindings, than: tuple[int, ...]) -> bool:
    numbers = tuple(int(part) for part in found.version.split("-")[0].split(".") if part.isdecimal())
    return found.kind == "ollama" and len(numbers) >= 2 and numbers != UNNUMBERED and numbers < than
