"""Puts facts from earlier messages into a request that refers to them: `my favourite number`, `where I live`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from toolsupport.simulator.types import HistoryMessage, ModelInput

MOST_MESSAGES = 60
LONGEST = 2000
# “My favourite number is 12.” and “The phone number of Ole is +47 555 0199.”, as a sentence of its own.
STATED = re.compile(
    r"(?:^|(?<=[.!?]\s))(?P<subject>(?:my|our|the)\s[\w' -]{2,60}?)\s(?:is|are)\s(?P<value>[^\s.!?][^\n!?]{0,80}?)[.!]?"
    r"(?=\s+[A-Z]|\s*$)",
    re.IGNORECASE | re.MULTILINE,
)
LIVES = re.compile(r"\bI live in (?P<place>[A-Z][\w-]*(?: [A-Z][\w-]*)?)")
HOME = "where i live"
# “sku: TEA-9” in the result of an earlier call.
LINE = re.compile(
    r"^[ \t]*[\"']?(?P<name>\w{2,40})[\"']?[ \t]*[:=][ \t]*[\"']?(?P<value>[^\s\"',][^\n\"',]{0,80})", re.MULTILINE
)


def recalled(prompt: ModelInput) -> ModelInput:
    """Return the prompt with the facts put into a person's latest message, where tools are offered."""
    places = [place for place, message in enumerate(prompt.messages) if message.role == "user"]
    if not prompt.tools or len(places) < 2:
        return prompt
    last = places[-1]
    message = prompt.messages[last]
    content = _with_facts(message.content, prompt.messages[:last][-MOST_MESSAGES:])
    if content == message.content:
        return prompt
    return replace(
        prompt,
        messages=(*prompt.messages[:last], replace(message, content=content), *prompt.messages[last + 1 :]),
    )


def _with_facts(asked: str, earlier: tuple[HistoryMessage, ...]) -> str:
    """Replace what refers to a fact by the fact; of two facts about the same subject the later one counts."""
    if len(asked) > LONGEST:
        return asked
    folded = asked.casefold()
    found = {name: value for name, value in (*_stated(earlier), *_returned(earlier)) if name in folded}
    for name in sorted(found, key=len, reverse=True):
        value = found[name].replace("\\", r"\\")
        asked = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", value, asked, flags=re.IGNORECASE)
    return asked


def _stated(earlier: tuple[HistoryMessage, ...]) -> Iterator[tuple[str, str]]:
    """Yield what a person stated, by the words that a later request uses for it."""
    for message in earlier:
        if message.role == "user":
            text = message.content[:LONGEST]
            yield from ((fact["subject"].casefold(), _quoted(fact["value"])) for fact in STATED.finditer(text))
            yield from ((HOME, f"in {home['place']}") for home in LIVES.finditer(text))


def _returned(earlier: tuple[HistoryMessage, ...]) -> Iterator[tuple[str, str]]:
    """Yield the named values in results of calls: `the sku from shop.txt`."""
    sources: list[str] = []
    for message in earlier:
        if message.calls:
            sources = [str(next(iter(call.arguments.values()), "")) for call in message.calls]
        if message.role == "tool" and sources:
            source = sources.pop(0).casefold()
            named = LINE.finditer(message.content[:LONGEST]) if source else ()
            yield from ((f"the {one['name'].casefold()} from {source}", _quoted(one["value"].strip())) for one in named)


def _quoted(value: str) -> str:
    return f'"{value}"' if " " in value else value
