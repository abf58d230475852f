"""Tells from an error whether it was the tools that a server would not have.

Four labels, because only the first says anything about the model:
  tools_unsupported    this model takes no tools
  tools_misconfigured  the server could, but a flag, a build, a template or a gateway's table stands in the way
  tool_call_malformed  the model wrote a call that its server could not read
  other                everything else, however tempting its words
The order of RULES is the order of judgement. Phrases are looked for in the words of the server only: envelopes.py
leaves out fields that echo the request, and ECHOES cuts quoted names and generated text out of the sentences.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from re import Pattern

from toolsupport.core.envelopes import Envelope, unwrap

UNSUPPORTED = "tools_unsupported"
MISCONFIGURED = "tools_misconfigured"
MALFORMED = "tool_call_malformed"
OTHER = "other"

# Who may not come in, must pay, wait or come back says nothing about what the model can do.
SAYS_NOTHING = frozenset({401, 402, 403, 408, 429, 503, 504})


@dataclass(frozen=True, slots=True)
class Refusal:
    """`rule` names the rule that decided; `message` is the server's own words on one line, "" if it said nothing."""

    label: str
    rule: str
    message: str


@dataclass(frozen=True, slots=True)
class Rule:
    label: str
    name: str
    pattern: Pattern[str]


# The thing itself, in the field's many words: not tool_choice, tool_call_id or parallel_tool_calls.
_WORDS = r"tools?(?:[ -](?:use|usage|calls?|calling))?|functions?(?:[ -]calls?|[ -]calling)?|(?:tool|function)_calling"
SHORT = {
    "THING": rf"[`'\"]?(?:{_WORDS})[`'\"]?(?![\w-])",
    "A_MODEL": r"(?:(?:this|the|that|your|selected|requested|provided|chosen|given) )*(?:\w+ )?models?\b",
    "IS_NOT": r"(?:is|are)(?: not|n't)(?: currently| yet)? ",
    "NOT_": r"(?:not|n't|never)(?: currently| yet)? ",
    "IS_UN": r"(?:is|are)(?: currently)?(?: un| not(?: currently| yet)? |n't )",
}


def _rule(label: str, name: str, *phrases: str) -> Rule:
    """Any of the phrases; the words of SHORT stand for their patterns."""
    pattern = "|".join(f"(?:{phrase})" for phrase in phrases)
    for short, full in SHORT.items():
        pattern = pattern.replace(short, full)
    return Rule(label, name, re.compile(pattern))


RULES = (
    _rule(
        MALFORMED,
        "unreadable-call",
        r"error parsing tool call",
        r"failed to parse (?:a |the )?(?:tool|function) calls?\b",
        r"failed to parse (?:the )?(?:input at pos|model output|generated|response)",
        r"invalid diff: ",
    ),
    _rule(
        MALFORMED,
        "bad-arguments",
        r"returned invalid (?:tool|function) call",
        r"invalid (?:tool|function) call arguments for",
    ),
    _rule(
        MALFORMED,
        "unknown-name",
        r"undeclared \w* ?function",
        r"call(?:ed)? (?:a )?tool .*(?:was|is) not in request",
    ),
    _rule(
        MALFORMED,
        "failed-generation",
        r"tool_use_failed",
        r"failed to call a function",
        r"malformed_function_call",
        r"(?:produced|generated|emitted|wrote) an? (?:invalid|malformed) (?:tool|function) call",
    ),
    _rule(OTHER, "model-missing", r"\bmodel\b.{0,120}\bnot found", r"no such model", r"unknown model"),
    _rule(
        OTHER,
        "bad-tool",
        r"failed to parse tools",
        r"invalid schema for function",
        r"schema conversion failed",
        r"(?:tool|function) .*invalid '?parameters",
    ),
    _rule(
        MISCONFIGURED,
        "flag",
        r"requires? (?:the )?(?:flag )?`?--\w",
        r"--(?:jinja|enable-auto-tool-choice|tool-call-parser)\b",
    ),
    _rule(
        MISCONFIGURED,
        "old-server",
        r"unsupported param(?:eter)?: [`'\"]?(?:tools|functions)[`'\"]?\.?$",
        r"only named tools are supported",
        r"THING[^.]{0,80}(?:api[ -]version|(?:newer|later) version)",
    ),
    _rule(
        MISCONFIGURED,
        "unknown-field",
        r"(?:unrecognized|unknown|unexpected)[ \w]{0,40}(?:argument|field|parameter|property)"
        r"[^.]{0,40}\b(?:tools|functions)\b",
        r"body\.(?:tools|functions): (?:extra|unexpected)",
    ),
    _rule(MISCONFIGURED, "gateway-table", r"not support param(?:eter)?s?:? .{0,200}[`'\"](?:tools|functions)[`'\"]"),
    _rule(
        MISCONFIGURED,
        "stream",
        r"cannot use tools with stream",
        r"THING[^.]{0,40} (?:in|with|while|when) stream",
    ),
    _rule(
        MISCONFIGURED,
        "template",
        r"parser for this template(?!.*(?:must|schema|roles)).*while (?:executing|rendering)",
        r"template: .*executing .*\.tools",
    ),
    _rule(
        MISCONFIGURED,
        "switched-off",
        r"THING (?:is|are|has been|have been) (?:disabled|switched off|turned off)",
        r"THING IS_NOTenabled (?:on|in|by|for) (?:this |the |your )?(?:server|deployment|endpoint|project|account)",
    ),
    _rule(
        OTHER,
        "only-together",
        r"\bwith THING IS_UNsupport",
        r"(?:parallel|multiple|custom|strict|hosted|built-?in|server|mcp|computer|web|search) THING IS_UNsupport",
        r"THING IS_UNsupported (?:when|together|in combination|alongside|with (?!A_MODEL))",
    ),
    _rule(
        UNSUPPORTED,
        "does-not-support",
        r"(?:NOT_|cannot |unable to )support (?:the use of |using |any |native )?THING"
        r"(?! (?:of|types?|with|results?|messages?|choices?|named|streaming|that)\b)",
    ),
    _rule(
        UNSUPPORTED,
        "is-not-supported",
        r"THING IS_UN(?:supported|available)(?! (?:parameter|value|type))",
        r"THING IS_NOTenabled for",
    ),
    _rule(
        UNSUPPORTED,
        "only-others",
        r"no (?:endpoints?|providers?|models?)[^.]{0,40} (?:that |which )?supports? THING",
        r"THING (?:is|are) only (?:supported|available) (?:by|for|on|with|in) ",
    ),
    _rule(
        UNSUPPORTED,
        "not-able",
        r"models?\b[^.]{0,80}(?:NOT_|in)(?:capable of|able to use|trained for|compatible with) THING",
        r"\b(?:no|without|lacks?) (?:support for THING|(?:tool|function)(?:[ -]calling|[ -]use)? support)",
    ),
)

# What was quoted from a request or from a model: cut before any phrase is looked for.
ECHOES = (
    (re.compile(r"raw='.*?'(?=, err=|$)|raw=\".*?\"(?=, err=|$)", re.S), "raw="),
    (re.compile(r"(failed to parse input at pos \d+):.*", re.S), r"\1:"),
    (re.compile(r"; tools = \[.*", re.S), ""),
    (re.compile(r"\b(function|model|tool|schema) ('[^']*'|\"[^\"]*\")"), r"\1 ''"),
    (re.compile(r"^(['\"])[^'\"]{1,300}\1(?= (?:does|is|cannot))"), "it"),
)


def classify(status: int, body: str) -> Refusal:
    """What an error body means for tools. `status` is the HTTP status (200 for an error inside a stream)."""
    envelope = unwrap(body)
    rule = _says_nothing(status, envelope) or _first_rule(envelope)
    return Refusal(rule.label, rule.name, envelope.message) if rule else Refusal(OTHER, "", envelope.message)


def _says_nothing(status: int, envelope: Envelope) -> Rule | None:
    inside = {int(code) for code in envelope.codes if code.isdecimal() and len(code) == 3}
    if status in SAYS_NOTHING or inside & SAYS_NOTHING:
        return Rule(OTHER, "status", re.compile(""))
    return None


def _first_rule(envelope: Envelope) -> Rule | None:
    texts = [_plain(text) for text in (*envelope.texts, *sorted(envelope.codes))]
    return next((rule for rule in RULES for text in texts if rule.pattern.search(text)), None)


def _plain(text: str) -> str:
    """Lower case, straight quotes, single spaces, without echoes; at most 4,000 characters."""
    plain = " ".join(text[:4000].replace("’", "'").lower().split())
    for echo, instead in ECHOES:
        plain = echo.sub(instead, plain)
    return plain
