"""Reads replies in tests: whole, in pieces of any size, and with neighbouring events joined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolsupport.core.events import CallDelta, CallReady, CallRejected, Event, TextDelta, ThinkingDelta
from toolsupport.core.formats import parser
from toolsupport.core.formats.announced_calls import Circumstances
from toolsupport.core.types import JSON, ToolSpec


def tool(name: str, **types: str) -> ToolSpec:
    properties = {key: {"type": kind} for key, kind in types.items()}
    return ToolSpec(name, "", {"type": "object", "properties": properties, "required": []})


WEATHER = tool("get_weather", city="string", days="integer", detailed="boolean", tags="array", place="object")
WRITE = tool("write_file", path="string", content="string")
DIRECT = Circumstances()
OFFERED = (WEATHER, WRITE, tool("now"), tool("mcp__fs__read_file", path="string"))


def read(
    name: str,
    pieces: Iterable[str],
    *,
    tools: Sequence[ToolSpec] = OFFERED,
    thinking: bool = False,
    circumstances: Circumstances = DIRECT,
) -> list[Event]:
    reader = parser(name, tools, thinking=thinking)
    reader.set_circumstances(circumstances)
    events = [event for piece in pieces for event in reader.feed(piece)]
    return joined([*events, *reader.flush()])


def joined(events: Iterable[Event]) -> list[Event]:
    """Neighbours of one kind as one event."""
    result: list[Event] = []
    for event in events:
        last = result[-1] if result else None
        if isinstance(event, TextDelta) and isinstance(last, TextDelta):
            result[-1] = TextDelta(last.text + event.text)
        elif isinstance(event, ThinkingDelta) and isinstance(last, ThinkingDelta):
            result[-1] = ThinkingDelta(last.text + event.text)
        elif isinstance(event, CallDelta) and isinstance(last, CallDelta) and last.id == event.id:
            result[-1] = CallDelta(last.id, last.name, last.text + event.text)
        else:
            result.append(event)
    return result


def text(events: Iterable[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def calls(events: Iterable[Event]) -> list[tuple[str, JSON]]:
    return [(event.call.name, event.call.arguments) for event in events if isinstance(event, CallReady)]


def rejections(events: Iterable[Event]) -> list[CallRejected]:
    return [event for event in events if isinstance(event, CallRejected)]
