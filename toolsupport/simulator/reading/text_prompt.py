"""Reads a prompt whose tools and results are in its text, as a model without native tools does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from toolsupport.simulator.reading import (
    text_results,
    tools_in_json,
    tools_in_lists,
    tools_in_tags,
    written_python,
)
from toolsupport.simulator.types import HistoryMessage, ModelInput, OfferedTool

Reader = Callable[[str], Iterable[OfferedTool]]

# In order of trust: if two of them find the same name, the first one with its parameters wins.
READERS: tuple[Reader, ...] = (tools_in_json.tools, tools_in_tags.tools, written_python.tools, tools_in_lists.tools)
LONGEST = 300_000


def prompt(given: ModelInput) -> ModelInput:
    """Return the same conversation with tools and results in fields of their own."""
    system = "\n".join(message.content for message in given.messages if message.role in ("system", "developer"))
    found = tools(system) or given.tools
    return replace(given, messages=tuple(_messages(given, {tool.name for tool in found})), tools=found)


def tools(text: str) -> tuple[OfferedTool, ...]:
    """Return every tool that a text describes, in the order of the first reader that found it."""
    found: dict[str, OfferedTool] = {}
    for reader in READERS:
        for tool in reader(text[:LONGEST]):
            known = found.get(tool.name)
            if known is None or (tool.properties and not known.properties):
                found[tool.name] = tool
    return tuple(found.values())


def _messages(given: ModelInput, names: Collection[str]) -> Iterator[HistoryMessage]:
    """Split the results out of a user's message that follows the calls they belong to."""
    before = ""
    for message in given.messages:
        results = text_results.results(message.content) if message.role == "user" and before == "assistant" else ()
        yield from [_named(result, names) for result in results] or [message]
        before = message.role


def _named(result: HistoryMessage, names: Collection[str]) -> HistoryMessage:
    """Return a result whose first line may be the name of its tool."""
    first, _, rest = result.content.partition("\n")
    name = first.strip().removesuffix(":")
    return replace(result, content=rest, name=name) if first.rstrip().endswith(":") and name in names else result
