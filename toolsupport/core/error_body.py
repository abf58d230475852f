"""Extracts the messages from an error body, through any number of nested envelopes.

A server's error may be JSON in a string in JSON, a top-level array, an SSE or NDJSON line, a Python repr, HTML or plain
text. Only fields that a server writes for people are read: fields that echo the request (`input`, `url` …) are never
read, since a user could have put any phrase there. What the model wrote (`failed_generation`) is kept apart from them.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from toolsupport.core.server_parse_errors import LOST_CALL_CODES

LONGEST = 65_536
LONGEST_REPR = 8_192
MOST_WORDS = 4_000
DEEPEST = 8

# Keys whose values are written for people, or hold something that is; in the order in which they are read. They are
# compared in lower case and without underscores: `errorMessage`, `ErrorMessage` and `error_message` are one.
WORDS = (
    *("error", "errors", "message", "detail", "msg", "reason", "errormsg", "errormessage", "statusmsg"),
    *("metadata", "raw", "data", "response", "baseresp", "header", "fault", "faultstring", "rootcause", "causedby"),
    *("cause", "exception", "fieldviolations", "details", "title"),
    *("externalmodelmessage", "errmsg", "errordescription"),
)
# Gateways name their server's error in other ways: innererror, upstream_error, Databricks' external_model_error.
AN_ERROR = "error"
CODES = ("code", "statuscode", "status", "type", "errortype", "errorcode")
# Linear however often a tag is opened and never closed.
# How an HTML page begins, or a part of one. `<400> InternalError` is no tag.
PAGE = re.compile(
    r"<(?:!doctype html|(?:html|head|body|title|meta|link|base|script|noscript|style|template|slot|center|h[1-6]|p|div"
    r"|pre|span|table|t[rdh]|section|main|article|aside|header|footer|nav|hgroup|address|figure|picture|img|svg|canvas"
    r"|iframe|object|embed|frameset|form|fieldset|label|input|button|select|br|hr|[uod]l|li|d[td]|a|strong|b|i|u|em"
    r"|small|big|tt|code|samp|kbd|blockquote|q|font|marquee|dialog|details|noframes)\b[^<>]*>)",
    re.I,
)
# XML, which gateways and stores write: an element that is closed, or a declaration in front.
XML = re.compile(r"<\?xml\b|<([a-z][\w.-]*(?::[a-z][\w.-]*)?)(?:\s[^<>]*)?>(?=.*</\1\s*>)", re.I | re.S)
SPACES = " \t\r\n\f\v\ufeff"
SPACE = re.compile(f"[{SPACES}]*")
# Text that may come before a page: its beginning and its end.
PROLOGUES = (("<!--", "-->"), ("<?", "?>"), ("HTTP/", "\r\n\r\n"))
# How Go prints a map: its keys in their order, strings without quotes.
GO_MAP = re.compile(r"map\[(?:error:map\[)?(?:code:(\S{1,40}) )?message:")
GO_MAP_END = re.compile(r" (?:param|type|status|metadata|n_ctx|n_prompt_tokens):|\]+\Z|\]\]")
# What the model wrote, in the errors of Groq and of the proxies that pass them on.
GENERATED = "failedgeneration"
# No server writes its own key with escapes; a quotation could hide it so.
WRITTEN_KEY = re.compile(r"failed_generation\\*[\"']\s*:")
# llama-server, with all that the model wrote; behind another place the beginning is missing.
UNPARSED = re.compile(r"Failed to parse input at pos 0: (.*)", re.S)
# The words of a proxy before an error that it passes on: "litellm.BadRequestError: GroqException - Error code: 400 - ".
WORD = re.compile(r"\w+")
LONGEST_PREFIX = 200
PREFIX = re.compile(
    r"(?:\w*(?:error|exception)|\d{1,3}|litellm|code|status|http|api|bad|request|upstream|provider|returned|response|from"
    r"|groq|openrouter)\Z"
)
TITLE = re.compile(r"<title>([^<]{1,200})</title>", re.I)
TAGS = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^<>]*>", re.S | re.I)


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """`texts` are the innermost messages in order, `codes` the codes and types around them (text, lower case).

    `around` is the text before and after an envelope that was found inside a text ("upstream error 400: …"). `page` is
    True for an page of HTML or XML, which a proxy writes rather than a model server. `generated` is what the model
    wrote, in the error of a server that could not parse it; "" if the error holds none, or several.
    """

    texts: tuple[str, ...]
    codes: frozenset[str]
    around: tuple[str, ...] = ()
    page: bool = False
    generated: str = ""

    @property
    def message(self) -> str:
        """Return one line for people, at most 500 characters, "" if the body has no message."""
        return self.words[:500]

    @property
    def words(self) -> str:
        """Return all messages on one line: those of a server may be behind the words of the proxies before it."""
        unique = dict.fromkeys(" ".join(text.split()) for text in self.texts)
        return "; ".join(text for text in unique if text)[:MOST_WORDS]


def unwrap(body: str) -> ErrorBody:
    """Extract the messages and codes of an error body."""
    reader = _TextCollector()
    text = body[:LONGEST].strip(SPACES)
    reader.body(text)
    page = XML.match(text) is not None or any(map(_is_page, (text, *reader.texts)))
    generated = reader.generated.pop() if len(reader.generated) == 1 and not page else ""
    return ErrorBody(tuple(reader.texts), frozenset(reader.codes), tuple(reader.around), page, generated)


def _without_tags(page: str) -> str:
    """Return the text of a page. Proxies write their error as its title and as its heading: once is enough."""
    text, title = TAGS.sub(" ", page), TITLE.search(page)
    named = title[1].strip() if title else ""
    return text.replace(named, "", 1) if named and text.count(named) > 1 else text


def _is_page(text: str) -> bool:
    """Return whether HTML begins here, after comments and declarations; an unclosed comment is a truncated page."""
    begin, found = 0, True
    while found:
        begin, found = SPACE.match(text, begin).end(), False  # type: ignore[union-attr]
        for opening, closing in PROLOGUES:
            if text.startswith(opening, begin):
                end = text.find(closing, begin)
                if end < 0:
                    return opening == "<!--"
                begin, found = end + len(closing), True
    return PAGE.match(text, begin) is not None


class _TextCollector:
    """Collects the messages of one body."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.around: list[str] = []
        self.codes: set[str] = set()
        self.generated: set[str] = set()
        self._quoted = False

    def body(self, text: str) -> None:
        found, value = _read_json(text)
        if found:
            self.walk(value, 0)
            return
        if values := _read_lines(text):
            for value in values:
                self.walk(value, 0)
        elif text:
            self.text(_without_tags(text) if text.startswith("<") else text, 0)

    def walk(self, value: Any, depth: int) -> None:
        if depth > DEEPEST:
            return
        if isinstance(value, str):
            self.text(value, depth + 1)
        elif isinstance(value, list | tuple):
            for entry in value[:20]:
                self.walk(entry, depth + 1)
        elif isinstance(value, dict):
            self.object({_key(key): entry for key, entry in value.items()}, depth)

    def object(self, value: dict[str, Any], depth: int) -> None:
        codes = {str(value[key]).lower() for key in CODES if isinstance(value.get(key), str | int)}
        self.codes |= codes
        generated = value.get(GENERATED)
        if isinstance(generated, str) and codes & LOST_CALL_CODES and not self._quoted:
            self.generated.add(generated)
        if "loc" in value and "msg" in value:  # one error of a validator: its place matters as much as its text
            self.texts.append(f"{_place(value['loc'])}: {value['msg']}")
            return
        others = (key for key in value if key.endswith(AN_ERROR) and key not in WORDS)
        for key in (*WORDS, *others):
            if value.get(key):
                self.walk(value[key], depth + 1)
        for key, entry in value.items():  # {"error parsing tool call": "…"}: the key itself is the message
            if key.startswith("error ") and isinstance(entry, str):
                self.texts.append(f"{key}: {entry}")

    def text(self, text: str, depth: int) -> None:
        """Collect the messages inside the first JSON object or Python repr of a text, and the text around it.

        An object without a server's message is an echo of the request: only its keys stay in the sentence.
        """
        known = len(self.texts)
        if self.go_map(text):
            return
        if not self._quoted and (unparsed := UNPARSED.match(text)):
            self.generated.add(unparsed[1])
        before, value, after = _nested(text) if depth < DEEPEST else (text, None, "")
        if value is not None and not _names(value):
            quoted, self._quoted = self._quoted, self._quoted or not (_passes_on(before) and WRITTEN_KEY.search(text))
            self.walk(value, depth + 1)
            self._quoted = quoted
        if len(self.texts) > known:
            self.around.extend(part for part in (before.strip(), after.strip()) if part)
        else:
            self.texts.append(f"{before}{_names(value)}{after}")

    def go_map(self, text: str) -> bool:
        """Extract the message from an error that a Go program printed as a map (Ollama does so for llama-server)."""
        opened = GO_MAP.search(text)
        if opened is None:
            return False
        end = GO_MAP_END.search(text, opened.end())
        self.codes.update({opened[1].lower()} if opened[1] else ())
        self.texts.append(text[opened.end() : end.start() if end else None])
        if before := text[: opened.start()].strip():
            self.around.append(before)
        return True


def _passes_on(before: str) -> bool:
    """Return whether words are those of a proxy before an error; in other words it may be a quotation."""
    return len(before) <= LONGEST_PREFIX and all(map(PREFIX.match, WORD.findall(before.lower())))


def _key(key: Any) -> str:
    return str(key).lower().replace("_", "")


def _is_written(key: str) -> bool:
    """Return whether a server writes what is under a key, in contrast to echoes of the request."""
    return key in (*WORDS, "loc") or key.endswith(AN_ERROR)


def _place(loc: Any) -> str:
    return ".".join(str(part) for part in loc) if isinstance(loc, list | tuple) else str(loc)


def _names(value: Any) -> str:
    """Return the harmless part of an echo, quoted: the names in a list, or the keys of an object without messages."""
    if isinstance(value, dict) and not any(_is_written(_key(key)) for key in value):
        return ", ".join(f"'{key}'" for key in list(value)[:20])
    if isinstance(value, list | tuple) and all(isinstance(entry, str) for entry in value):
        return ", ".join(f"'{entry}'" for entry in value[:20])
    return ""


def _nested(text: str) -> tuple[str, Any, str]:
    """Split a text at its first object: text before, object (None if there is none), text after."""
    opened = re.search(r"[\[{]\s*[\"'{]", text)
    if opened is not None:
        for read in READERS:
            value, length = read(text[opened.start() :])
            if length:
                return text[: opened.start()], value, text[opened.start() + length :]
    return text, None, ""


def _read_lines(text: str) -> list[Any]:
    """Return the values of the lines that look like JSON; none if one of them is something else."""
    values: list[Any] = []
    for line in text.splitlines():
        plain = line.removeprefix("data:").strip()
        if plain[:1] in ("{", "["):
            found, value = _read_json(plain)
            if not found:
                return []
            values.append(value)
    return values


def _read_json(text: str) -> tuple[bool, Any]:
    try:
        return True, json.loads(text)
    except (ValueError, RecursionError):
        return False, None


def _read_json_prefix(text: str) -> tuple[Any, int]:
    try:
        return json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None, 0


def _read_repr(text: str) -> tuple[Any, int]:
    end = max(text.rfind("}"), text.rfind("]")) + 1
    if not 0 < end <= LONGEST_REPR:
        return None, 0
    try:
        return ast.literal_eval(text[:end]), end
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None, 0


# Each gives the value at the beginning of a text with its length there, 0 where it cannot be read.
READERS: tuple[Callable[[str], tuple[Any, int]], ...] = (_read_json_prefix, _read_repr)
