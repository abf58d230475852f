"""Names what may help a model that failed an exam, by what failed and by its server."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

# Ollama calls tools from this version on, and reports what a model can do from the later one on.
TOOLS_SINCE, CAPABILITIES_SINCE = (0, 3, 0), (0, 6, 4)
CALLS = frozenset({"single", "choice", "types", "nested", "parallel"})
LONG = frozenset({"history", "turns"})
OTHER_FORMATS = ("hermes", "json")  # to try where native calls failed

STEPS: Mapping[str, str] = MappingProxyType(
    {
        "check_server": "The server failed during the exam. Check whether it answers.",
        "update_for_tools": "Ollama {version} does not call tools. Update it to 0.3.0 or newer.",
        "update_for_capabilities": "Ollama {version} does not report what a model can do. Update it to 0.6.4 or newer.",
        "set_flag": "The server lacks a setting for tools. Its page names the setting.",
        "other_format": "Run this exam in other call formats.",
        "native_format": "Run this exam with native tool calls.",
        "pull_again": "Pull the model again: its template may be old.",
        "raise_context": "Raise the context: the cases with a long conversation failed.",
        "minimal_context": "Shorten the prompt with tools: long conversations failed, single calls did not.",
        "test_again": "Test the model again, in case it changed.",
    }
)


@dataclass(frozen=True, slots=True)
class ExamFindings:
    """What an exam found: groups that failed, the formats used, whether the server failed or refused tools.

    `version` is that of the server, "" if unknown; `lacks_flag`: it lacks a setting for tools.
    """

    failed: Collection[str]
    formats: Collection[str]
    kind: str = ""
    version: str = ""
    server_failed: bool = False
    lacks_flag: bool = False


def steps(found: ExamFindings) -> list[str]:
    """Return the codes of the steps, the likeliest first."""
    applies = {
        "check_server": found.server_failed,
        "update_for_tools": _older(found, TOOLS_SINCE),
        "update_for_capabilities": _older(found, CAPABILITIES_SINCE) and not _older(found, TOOLS_SINCE),
        "set_flag": found.lacks_flag,
        "other_format": bool(CALLS & {*found.failed}) and "native" in found.formats,
        "native_format": bool(CALLS & {*found.failed}) and "native" not in found.formats,
        "pull_again": bool(CALLS & {*found.failed}) and found.kind == "ollama",
        "raise_context": bool(LONG & {*found.failed}) and found.kind == "ollama",
        "minimal_context": bool(LONG & {*found.failed}) and "single" not in found.failed,
        "test_again": bool(found.failed),
    }
    return [code for code, wanted in applies.items() if wanted]


def sentence(code: str, version: str) -> str:
    """Return the text of a step."""
    return STEPS[code].format(version=version)


def _older(found: ExamFindings, than: tuple[int, ...]) -> bool:
    numbers = [int(part) for part in found.version.split("-")[0].split(".") if part.isdecimal()]
    return found.kind == "ollama" and len(numbers) >= 2 and tuple(numbers) < than
