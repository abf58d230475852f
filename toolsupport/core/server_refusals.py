"""Classifies errors of servers: whether they refuse the tools, lack a setting, or neither.

Four labels, because only the first proves anything about the model:
  tools_unsupported    this model does not support tools
  tools_misconfigured  the server could, but a flag, a build, a template or a gateway's table prevents it
  tool_call_malformed  the model wrote a call that its server could not parse
  other                everything else, however similar its wording
Phrases are searched in the server's message only: error_body.py leaves out fields that echo the request, and
ECHOES removes quoted names, request fields and generated text from the sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from toolsupport.core.error_body import ErrorBody, unwrap
from toolsupport.core.server_parse_errors import LOST_CALL_CODES, WHERE_THE_SERVER_FAILED
from toolsupport.core.server_refusal_rules import (
    MALFORMED,
    MISCONFIGURED,
    OTHER,
    RULES,
    TOOLS,
    UNSUPPORTED,
    RefusalRule,
)

__all__ = [
    "MALFORMED",
    "MISCONFIGURED",
    "OTHER",
    "RULES",
    "SAYS_NOTHING",
    "STREAMING",
    "UNSUPPORTED",
    "Refusal",
    "classify",
]

# The rule of a server that accepts tools only if the answer is not streamed.
STREAMING = "stream"

# Missing permission, payment, limits and retries prove nothing about the model. Neither does a proxy in front of
# its server.
SAYS_NOTHING = frozenset({401, 402, 403, 408, 429, 502, 503, 504, *range(520, 531)})  # from 520 on: Cloudflare's


@dataclass(frozen=True, slots=True)
class Refusal:
    """`rule` names the rule that decided; `message` is the server's own message on one line, "" if there is none."""

    label: str
    rule: str
    message: str


# The server failed, perhaps in the middle of its stream.
FAILED = frozenset({200, 500})
# A gateway gives these when its own server gave another one.
GATEWAY = frozenset({502, 503, 504})

# Quotations from a request or from a model, which are cut before phrases are searched.
ECHOES = (
    (re.compile(r"raw='.*?'(?=\]?, err=|$)|raw=\".*?\"(?=\]?, err=|$)"), "raw="),
    (re.compile(r"(failed to parse input at pos \d+):.*"), r"\1:"),
    (re.compile(r"(malformed function call|model output):.*"), r"\1:"),
    (re.compile(r"; tools = \[.*"), ""),
    # A sentence in the middle of another one is quoted, from a request or from a reply.
    (re.compile(r"'(?:[^' ]+ ){2,}[^' ]+'(?= [a-z])|\"(?:[^\" ]+ ){2,}[^\" ]+\"(?= [a-z])"), "''"),
    (
        re.compile(r"\b(?:user|last|first|your) (?:message|prompt|input|query|question|text) ?:? ?['\"`].*"),
        "message ''",
    ),
    (re.compile(r"(input_value|failed_generation)=.*?(?=, input_type=|$)"), r"\1="),
    (
        re.compile(
            r"(['\"]?)\b(content|text|input|arguments|description|prompt|failed_generation)\1 ?: ?(['\"]).*?"
            r"(?:\3(?= ?[,}\]])|$)"
        ),
        r"\2",
    ),
    (re.compile(r"(but got|instead of|received|got) (?:`[^`]*`|'[^']*'|\"[^\"]*\")"), r"\1"),
    (
        re.compile(
            r"\b(function|model|tool|schema|role|type|value|property|name) (?!['\"`](?:tools|functions)['\"`])"
            r"('[^']*'|\"[^\"]*\"|`[^`]*`)"
        ),
        r"\1 ''",
    ),
    (re.compile(rf"^(['\"])(?!(?:{TOOLS})\1)[^'\"]{{1,300}}\1(?= (?:does|is|cannot))"), "it"),
)


# No name of a model or a tool is so long, and rules with words in them take time by the square of one.
ENDLESS = re.compile(r"[\w./:@-]{101,}")
# Characters of one text and of all; a text counts as SHORTEST at least. The rules take 3 µs a character.
LONGEST_TEXT, LONGEST, SHORTEST = 4000, 8000, 40


@lru_cache(maxsize=32)  # each failure is classified by several modules
def classify(status: int, body: str) -> Refusal:
    """Classify an error body with regard to tools. `status` is the HTTP status (200 for an error inside a stream)."""
    envelope = unwrap(body)
    rule = _by_status(status, envelope) or _first_rule(envelope, failed=status in FAILED)
    return Refusal(rule.label, rule.name, envelope.message) if rule else Refusal(OTHER, "", envelope.message)


def _by_status(status: int, envelope: ErrorBody) -> RefusalRule | None:
    if envelope.page:
        return RefusalRule(OTHER, "page", re.compile(""))
    found = {status, *(int(code) for code in envelope.codes if code.isdecimal() and len(code) == 3)} & SAYS_NOTHING
    if found and found <= GATEWAY and envelope.codes & LOST_CALL_CODES:
        return RefusalRule(MALFORMED, "failed-generation", re.compile(""))
    return RefusalRule(OTHER, "status", re.compile("")) if found else None


def _first_rule(envelope: ErrorBody, *, failed: bool) -> RefusalRule | None:
    texts = list(_searched((*envelope.texts, *envelope.around, *sorted(envelope.codes))))
    rules = (*RULES, *(WHERE_THE_SERVER_FAILED if failed else ()))
    return next((rule for rule in rules for text in texts if rule.found(text)), None)


def _searched(texts: Iterable[str]) -> Iterator[str]:
    """Yield the texts in which phrases are searched, each once, until they are LONGEST together."""
    left = LONGEST
    for text in dict.fromkeys(texts):
        plain = _plain(text[: min(left, LONGEST_TEXT)])
        left -= max(len(plain), SHORTEST)
        if left < 0:
            return
        yield plain


def _plain(text: str) -> str:
    """Return lower case, straight quotes, single spaces, without echoes and without the middle of endless words."""
    plain = " ".join(text.replace("’", "'").lower().split())
    plain = ENDLESS.sub(lambda word: word[0][:60] + word[0][-40:], plain)
    for echo, instead in ECHOES:
        plain = echo.sub(instead, plain)
    return plain
