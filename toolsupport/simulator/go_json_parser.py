"""Parses JSON and reports syntax errors with the messages of Go's decoder."""

from __future__ import annotations

import json
from typing import Any, NoReturn

# Python's message → Go's text after `invalid character 'x' `.
COMPLAINTS = {
    "Expecting value": "looking for beginning of value",
    "Expecting property name enclosed in double quotes": "looking for beginning of object key string",
    "Expecting ':' delimiter": "after object key",
    "Invalid control character at": "in string literal",
    "Invalid \\escape": "in string escape code",
    "Invalid \\uXXXX escape": "in \\u hexadecimal character escape",
}
# Where Python points at the opening of what is broken, Go points at the character that breaks it.
SHIFTS = {"Invalid \\escape": 1}
LITERALS = ("null", "true", "false")
SPACE = " \t\r\n"
ESCAPED = {"'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\"}


class Malformed(ValueError):
    """The body is not valid JSON; the message is Go's."""


def decode(body: bytes) -> Any:
    """Return the first JSON value of a body; the rest is ignored. Raises Malformed."""
    text = body.decode("utf-8", "replace").lstrip(SPACE)
    if not text:
        raise Malformed("EOF")
    try:
        return json.JSONDecoder(parse_constant=_constant).raw_decode(text)[0]
    except json.JSONDecodeError as error:
        raise Malformed(_complaint(error)) from None
    except RecursionError:
        raise Malformed("exceeded max depth") from None
    except ValueError as error:
        # Python refuses numbers of thousands of digits.
        raise error if isinstance(error, Malformed) else Malformed("json: number out of range") from None


def _constant(name: str) -> NoReturn:
    # Only Python accepts NaN and Infinity as numbers.
    sign, rest = name[0], name[1:2]
    numeric = sign == "-"
    raise Malformed(f"invalid character '{rest if numeric else sign}' {_in(numeric)}")


def _in(numeric: bool) -> str:
    return "in numeric literal" if numeric else "looking for beginning of value"


def _complaint(error: json.JSONDecodeError) -> str:
    place = error.pos + SHIFTS.get(error.msg, 0)
    if error.msg.startswith("Unterminated") or place >= len(error.doc):
        return "unexpected EOF"
    found = error.doc[place]
    if error.msg == "Expecting ',' delimiter":
        return f"invalid character {quote(found)} {_after(error.doc[:place])}"
    literal = _broken_literal(error.doc, place) if error.msg == "Expecting value" else ""
    return literal or f"invalid character {quote(found)} {COMPLAINTS.get(error.msg, 'looking for beginning of value')}"


def _broken_literal(text: str, place: int) -> str:
    """Return Go's error for a word that begins like null, true or false; "" for any other."""
    word = next((word for word in LITERALS if word[0] == text[place]), "")
    for offset, letter in enumerate(word):
        found = text[place + offset : place + offset + 1]
        if not found:
            return "unexpected EOF"
        if found != letter:
            return f"invalid character {quote(found)} in literal {word} (expecting {quote(letter)})"
    return ""


def _after(text: str) -> str:
    """Return whether the value before the missing comma belongs to an array or to an object."""
    open_now, quoted, escaped = [""], False, False
    for letter in text:
        if quoted:
            quoted, escaped = escaped or letter != '"', not escaped and letter == "\\"
        elif letter in "[{":
            open_now.append(letter)
        elif letter in "]}":
            open_now.pop()
        else:
            quoted = letter == '"'
    return "after array element" if open_now[-1] == "[" else "after object key:value pair"


def quote(letter: str) -> str:
    """Return one character as Go writes it in an error: the first byte only, in single quotes."""
    byte = letter.encode("utf-8", "replace")[:1].decode("latin-1")
    plain = byte if byte.isprintable() else f"\\x{ord(byte):02x}"
    return f"'{ESCAPED.get(byte, plain)}'"
