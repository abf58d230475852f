"""Reading a whole reply of the OpenAI wire that comes in given pieces."""

from __future__ import annotations

from toolsupport.core.events import CallRejected, Event, Failed, Finished
from toolsupport.providers import codec


def decode(pieces: list[bytes], line_bytes: int = 2**21) -> list[Event]:
    reader = codec("openai", line_bytes)
    events = [event for piece in pieces for event in reader.feed(piece)]
    return events + reader.flush() if not events or not isinstance(events[-1], Failed | Finished) else events


def request_spec(event: Event) -> Event | str:
    if isinstance(event, Failed):
        return event.kind
    return f"rejected {event.name}" if isinstance(event, CallRejected) else event
