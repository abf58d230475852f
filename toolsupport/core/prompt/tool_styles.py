"""Describes tools to a model in the style that suits its family."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from toolsupport.core.types import ToolSpec

STANDARD = "standard"
MOST_NAMES = 64
LONGEST_DESCRIPTION = 200
PLACEHOLDER = re.compile(r"\{(names|definitions)\}")

# Style → its part of the system prompt if tools are offered; {names} and {definitions} are those of the tools.
STYLES: Mapping[str, str] = MappingProxyType(
    {
        "standard": (
            "You can call the tools that are offered to you. Call one when it helps to answer, and answer directly "
            "when it does not. Only the offered tools exist; use their exact names, and give every required argument."
        ),
        "hermes": (
            "Your tools:\n{definitions}\nThink about which of them the request needs before you call one. Call only "
            "tools of this list, with the arguments their schema asks for. Write a call in no other way than the one "
            "you were given: no lines of Thought, Action or Observation."
        ),
        "agentic": (
            "You work with tools: {names}.\nSplit the request into small steps. For each step, first see whether one "
            "of these tools can do it, then call it, and look at the result before the next step. Where no tool can "
            "do a step, say so. Go on until every step is done."
        ),
        "xml": (
            "Your tools: {names}.\nWhen you call one, open and close every tag of the call, and write values as they "
            "are, without quoting or escaping them. Call only these tools, with all required arguments."
        ),
        "pythonic": (
            "You can call these functions: {names}.\nWrite calls with named arguments, all calls of a step together "
            "and nothing else beside them. Call no other function. When you need none, answer in plain words."
        ),
        "llama": (
            "You can call these functions: {names}.\nCall one only when the request needs it; otherwise just answer. "
            "Give it only the arguments it knows, with numbers and lists written as such and not as text."
        ),
        "command-r": (
            "Your tools: {names}.\nPlan which of them you need, call those, and then ground your answer in what they "
            "gave. When none is needed, answer directly."
        ),
        "gemma4": (
            "You can call these functions: {names}.\nCall one when the request needs it, with arguments exactly as "
            "declared, then wait for its response. Otherwise answer directly."
        ),
        "functiongemma": "You can do function calling with these functions: {names}. Call the one that fits.",
        "harmony": (
            "The functions you can call: {names}.\nThink in the analysis channel, call a function with arguments that "
            "are one JSON object, and put your answer to the person into the final channel."
        ),
        "prompted": (
            "You can use these tools: {names}.\nYou were not taught to call tools, so follow the way of writing a call "
            "that you are shown to the letter, write nothing after it, and wait for its result. When no tool is "
            "needed, answer in plain words."
        ),
    }
)

# One of these is in every request with tools; the second is the tool-use reminder.
NUDGE = "Never make up what a tool would return. Read a file before you change it, and change only what was asked for."
STRONG_NUDGE = (
    "Use your tools: when a request speaks of files, folders or anything else that a tool can reach, call the tool "
    "instead of guessing or of telling how it could be done. Before you edit a file, read it. Change only the part "
    "that was asked for and leave the rest as it is."
)


def about(style: object, tools: Sequence[ToolSpec]) -> str:
    """Return the text of a style for these tools; that of the standard style if it has none of its own."""
    words = STYLES.get(style if isinstance(style, str) else STANDARD, STYLES[STANDARD])
    shown = tools[:MOST_NAMES]
    names, definitions = ", ".join(tool.name for tool in shown), "\n".join(_defined(tool) for tool in shown)
    # Placeholders are replaced in one pass: a description may hold the name of one.
    return PLACEHOLDER.sub(lambda found: names if found[1] == "names" else definitions, words)


def _defined(tool: ToolSpec) -> str:
    """Return one line of a list: the name with the first line of the description."""
    first = tool.description.strip().split("\n")[0].strip()[:LONGEST_DESCRIPTION]
    return f"- {tool.name}: {first}" if first else f"- {tool.name}"
