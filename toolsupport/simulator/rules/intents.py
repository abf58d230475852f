"""Parses a person's text into intents."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from toolsupport.simulator.rules import arithmetic, programs, text_entities, times

Values = Mapping[str, str]


class IntentKind(StrEnum):
    """The kinds of intents. CALL is a tool that was named explicitly."""

    CALL = "call"
    LIST = "list"
    READ = "read"
    WRITE = "write"
    APPEND = "append"
    EDIT = "edit"
    REMEMBER = "remember"
    RUN = "run"
    QUERY = "query"
    TIME = "time"
    CONVERT = "convert"
    COMPUTE = "compute"
    PROGRAM = "program"
    REPEAT = "repeat"
    TABLE = "table"
    CODE = "code"
    LONG = "long"
    ABOUT = "about"
    GREET = "greet"
    THANKS = "thanks"
    UNKNOWN = "unknown"


# Kinds that a tool can serve, and kinds that are dropped if the request has others.
TOOLFUL = {
    *(
        IntentKind.CALL,
        IntentKind.LIST,
        IntentKind.READ,
        IntentKind.WRITE,
        IntentKind.APPEND,
        IntentKind.EDIT,
        IntentKind.REMEMBER,
    ),
    *(IntentKind.RUN, IntentKind.QUERY, IntentKind.TIME, IntentKind.CONVERT, IntentKind.COMPUTE, IntentKind.PROGRAM),
}
POLITE = {IntentKind.GREET, IntentKind.THANKS}


@dataclass(frozen=True, slots=True)
class Intent:
    """One intent; `values` are its path, content, command …, `text` is the whole text."""

    kind: IntentKind
    text: str
    values: Values = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")


# Requests are shorter than this; the patterns below stay quick.
LONGEST = 2000

# A reader gives the values it found in a clause, or None where its kind does not fit.
Reader = Callable[[str], Values | None]


def _nothing(clause: str) -> Values:
    return {}


def _run(clause: str) -> Values | None:
    command = text_entities.command(clause)
    return {"command": command} if command else None


def _write(clause: str) -> Values | None:
    paths = text_entities.files(clause)
    if not paths:
        return None
    response = re.search(
        r"\b(?:containing|saying|with (?:the )?(?:text|content|words?|line)?)\s*:?\s*(.+)$", clause, re.I
    )
    between = re.search(r"\b(?:write|save|put|store)\s+(.{1,400}?)\s+(?:in)?(?:to|in)\s", clause, re.I)
    quoted = [text for text in text_entities.quotations(clause) if text != paths[-1]]
    found = quoted or [match.group(1) for match in (response, between) if match]
    return {"path": paths[-1], "content": found[0] if found else ""}


def _append(clause: str) -> Values | None:
    paths = text_entities.files(clause)
    quoted = [text for text in text_entities.quotations(clause) if text not in paths]
    bare = re.search(r"\b(?:append|add)\s+(.{1,400}?)\s+to\s", clause, re.I)
    found = quoted or ([bare.group(1)] if bare else [])
    return {"path": paths[-1], "content": found[0]} if paths and found else None


def _edit(clause: str) -> Values | None:
    paths = text_entities.files(clause)
    change = re.search(r"\b(?:replace|change)\s+(.{1,200}?)\s+(?:with|by|to|into)\s+(.{1,200}?)\s+in\s", clause, re.I)
    if not paths or not change:
        return None
    return {"path": paths[-1], "old": change.group(1).strip("`\"'"), "new": change.group(2).strip("`\"'")}


def _remember(clause: str) -> Values | None:
    response = re.match(rf"{REMEMBER}(?:\s*:|\s+that\b)?\s+(\S.*)$", clause, re.I)
    return {"content": response.group(1)} if response else None


def _read(clause: str) -> Values | None:
    paths = text_entities.files(clause)
    return {"path": paths[0], "topic": text_entities.topic(clause)} if paths else None


def _query(clause: str) -> Values:
    """Return a query of the example database: the number of orders, in total or per month, customer or tea."""
    per = re.search(r"\b(?:per|by|each|every)\s+(month|day|customer)\b", clause, re.I)
    if per is None:
        return {"expression": "SELECT COUNT(*) AS orders FROM orders"}
    word = per.group(1).lower()
    part = "strftime('%Y-%m', day)" if word == "month" else word
    return {"expression": f"SELECT {part} AS {word}, COUNT(*) AS orders FROM orders GROUP BY 1 ORDER BY 1"}


def _list(clause: str) -> Values:
    return {"path": text_entities.folder(clause)}


def _compute(clause: str) -> Values | None:
    found = arithmetic.expression(clause)
    asked = re.search(r"\b(?:what|how much|calculate|compute|work out|evaluate|solve|result|is)\b|=", clause, re.I)
    # A request that is only a sum asks for its value.
    bare = found and re.fullmatch(r"[\W\d]*", arithmetic.normal(clause))
    return {"expression": found} if found and (asked or bare) else None


# Text to be repeated is not a request, whatever words it has.
REPEAT = re.compile(r"\W*(?:please )?reply with exactly this text and nothing else:\s*(\S[^\n]*)", re.IGNORECASE)
REMEMBER = r"\W*(?:please\s+)?(?:remember|memori[sz]e|keep in mind|(?:don't|do not) forget)"

# Tried in order on each clause: the first whose words are there and whose reader finds what it needs.
RULES: tuple[tuple[IntentKind, str, Reader], ...] = (
    (IntentKind.PROGRAM, programs.ASKED, programs.values),
    (IntentKind.REMEMBER, REMEMBER, _remember),
    (IntentKind.RUN, r"^\W*(?:please\s+)?(?:run|execute)\b", _run),
    (IntentKind.EDIT, r"\b(?:replace|change)\b", _edit),
    (IntentKind.APPEND, r"\b(?:append|add)\b", _append),
    (IntentKind.WRITE, r"\b(?:write|save|put|create|store)\b", _write),
    (IntentKind.QUERY, r"\bhow many orders\b", _query),
    (IntentKind.TIME, times.ASKED, times.current),
    (IntentKind.CONVERT, times.ASKED, times.converted),
    (IntentKind.COMPUTE, r"\d", _compute),
    (
        IntentKind.READ,
        r"\b(?:read|open|show|cat|display|print|view|look|summari[sz]e|what|what's|which|tell|contents?|find|get|give)\b",
        _read,
    ),
    (IntentKind.LIST, r"^\W*(?:ls|dir)\b", _list),
    (
        IntentKind.LIST,
        r"\b(?:list|show|what|what's|which|see|look|any|display|browse|how many)\b.*"
        r"(?:\b(?:folder|directory|dir|files|workspace|around here|in here)\b|\w/|/\w)",
        _list,
    ),
    # Not a table in a restaurant, nor one of a database.
    (IntentKind.TABLE, r"^(?!.*\b(?:book|reserve)\b).*(?<!in the )\btable\b(?! for\b)", _nothing),
    (IntentKind.CODE, r"\b(?:code|function|script|snippet|program)\b", _nothing),
    (IntentKind.LONG, r"\b(?:long|story|essay|poem|at length|in detail|article)\b", _nothing),
    (IntentKind.ABOUT, r"\b(?:who|what) are you\b|\bhelp\b|\bwhat can you do\b|\byour name\b", _nothing),
    (IntentKind.THANKS, r"\b(?:thanks|thank you|thx|cheers)\b", _nothing),
    (IntentKind.GREET, r"^\W*(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|day|afternoon|evening))\b", _nothing),
)

VERB = (
    r"(?:please\s+)?(?:list|read|open|show|write|save|put|run|execute|calculate|compute|tell|what|what's|create|print"
    r"|cat|call|use|give|find|say|summari[sz]e|replace|change|display|look|get|remember|append)\b"
)
SPLIT = re.compile(
    rf"(?:\s?,?\s?\b(?:and|then)\b(?:\s+(?:then|also|after that))?\s+(?={VERB}|{text_entities.FILE.pattern})"
    r"|[;\n]+|[?!]\s+|\.\s+(?=[A-Z])|,\s+(?=" + VERB + r"))",
    re.IGNORECASE,
)


ONCE = re.compile(r"\b(?:once(?: more)?|then again|the (?:first|second|third) time) with\b", re.IGNORECASE)


def clauses(text: str) -> list[str]:
    """Split a request into clauses; quoted text is never split."""
    hidden = text_entities.QUOTED.sub(lambda match: "\0" * len(match.group()), text)
    bounds = [0, *(edge for match in SPLIT.finditer(hidden) for edge in match.span()), len(text)]
    parts = [text[start:end].strip() for start, end in zip(bounds[::2], bounds[1::2], strict=True)]
    return [part for part in parts if part]


def understand(text: str, names: Collection[str] = ()) -> list[Intent]:
    """Return all intents, in order, at least one; `names` are the tools that may be named explicitly."""
    text = text[:LONGEST]
    named = _named(text, names)
    if named:
        return named
    if literal := REPEAT.match(text):
        return [Intent(IntentKind.REPEAT, text, {"content": literal[1].strip()})]
    intents: list[Intent] = []
    for clause in clauses(text):
        _add(intents, clause)
    serious = [intent for intent in intents if intent.kind not in POLITE]
    return serious or intents[:1] or [Intent(IntentKind.UNKNOWN, text)]


def _named(text: str, names: Collection[str]) -> list[Intent]:
    found = []
    for name in names:
        asked = rf"(?<![\w-]){re.escape(name)}(?![\w-])" if name else r"(?!)"
        urged = re.search(rf"\b(?:call|use|invoke|using|calling|run|try)\b[^.?!\n]*?{asked}", text, re.I)
        denied = re.search(rf"\b(?:not|don't|never|without)\s+(?:\w+\s+){{0,3}}[`\"']?{asked}", text, re.I)
        if urged and not denied:
            found.append((urged.end(), Intent(IntentKind.CALL, text, {"tool": name})))
    intents = [intent for _, intent in sorted(found, key=lambda item: item[0])]
    return _each_time(intents[0]) if len(intents) == 1 else intents


def _each_time(intent: Intent) -> list[Intent]:
    """Return one intent per repetition: "once with code=a, and once with code=b"."""
    times = ONCE.split(intent.text)[1:]
    return [replace(intent, text=f"with {words}") for words in times] if len(times) > 1 else [intent]


def _add(intents: list[Intent], clause: str) -> None:
    """Add a clause: a new intent, the same for another path, or a topic for the last one."""
    intent = _match(clause)
    last = intents[-1] if intents and intents[-1].kind in TOOLFUL else None
    if intent is not None:
        intents.append(intent)
    elif last is None:
        return
    elif text_entities.files(clause):
        intents.append(replace(last, text=clause, values={"path": text_entities.files(clause)[0]}))
    elif text_entities.topic(clause):
        intents[-1] = replace(last, values={**last.values, "topic": text_entities.topic(clause)})


def _match(clause: str) -> Intent | None:
    for kind, pattern, reader in RULES:
        values = reader(clause) if re.search(pattern, clause, re.IGNORECASE) else None
        if values is not None:
            return Intent(kind, clause, values)
    return None
