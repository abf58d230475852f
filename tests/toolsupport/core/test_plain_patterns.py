"""Patterns as servers with constrained output read them: the same texts match, or nothing is sent."""

from __future__ import annotations

import json
import re
from random import Random

import pytest

from tests.forced.grammar import compiled
from tests.tables import every
from toolsupport.core.constrained.plain_patterns import PlainPattern, plain
from toolsupport.simulator.fitting import patterns

EXACT = [
    (r"^[A-Z]{3}$", PlainPattern("^[A-Z]{3}$", 3, 3)),
    (r"^\d{4}-\d\d-\d\d$", PlainPattern("^[0-9]{4}-[0-9][0-9]-[0-9][0-9]$", 10, 10)),
    (r"^(?:red|green)$", PlainPattern("^(red|green)$", 3, 5, ("red", "green"))),
    (r"^[ab]?c$", PlainPattern("^[a-b]?c$", 1, 2, ("c", "ac", "bc"))),
    (r"^v\d+(\.\d+){0,2}$", PlainPattern(r"^v[0-9]+(\.[0-9]+){0,2}$", 2, None)),
    (r"^\w+@\w+\.[a-z]{2,}$", PlainPattern(r"^[0-9A-Z_a-z]+@[0-9A-Z_a-z]+\.[a-z]{2,}$", 6, None)),
    (r"^[\]^-]$", PlainPattern(r"^[\]^-]$", 1, 1, ("-", "]", "^"))),
    (r"^\$\d$", PlainPattern(r"^\$[0-9]$", 2, 2, tuple(f"${digit}" for digit in range(10)))),
    (r"^größe$", PlainPattern("^größe$", 5, 5, ("größe",))),
    (r"^$", PlainPattern("^$", 0, 0, ("",))),
    # Without both anchors only the least length is certain.
    (r"[A-Z]{3}", PlainPattern("", 3, None)),
    (r"^ab", PlainPattern("", 2, None)),
    (r"ab\$", PlainPattern("", 3, None)),
]
# What is not the same on all servers, or would hold a character that JSON escapes.
NONE = [
    *(
        r"^(?=a)b$",
        r"^(a)\1$",
        r"^a|b$",
        r"^\p{L}+$",
        r"^a++$",
        r"^(?i)a$",
        r"^[[:alpha:]]$",
        r"^a{2}{3}$",
        r"^\bword$",
    ),
    *(
        r'^"$',
        r"^\\$",
        r"^a\nb$",
        r"^.+$",
        r"^[^a]$",
        r"^\S+$",
        r"^a{1,9999}$",
        r"^(((a{99}){99}){99})$",
        "(",
        "[",
        "a)",
    ),
    *(
        r"^a^b$",
        r"^[z-a]$",
        r"^[]a]$",
        r"^(a|)$",
        r"^()$",
        "^\\",
        "^" + "a" * 500 + "$",
        "^" + "(" * 20 + ")" * 20 + "$",
    ),
]


@every(("pattern", "expected"), EXACT)
def test_a_pattern_in_the_common_form(pattern: str, expected: PlainPattern) -> None:  # K7
    assert plain(pattern) == expected


@every("pattern", NONE)
def test_what_has_no_common_form_is_left_out(pattern: str) -> None:  # K7
    assert plain(pattern) == PlainPattern()


@pytest.mark.parametrize("pattern", [r"^.+$", r"^[^@\s]+@[^@\s]+$", r"\d+", r"^\S*$", r"^[^a]$", r"^x", r"[A-Z]{2}|7"])
def test_a_lossy_form_adds_no_text(pattern: str) -> None:  # K7
    found = plain(pattern, lossy=True)
    assert found.text.startswith("^") and found.text.endswith("$")
    drawn = [patterns.drawn(found.text, Random(number)) for number in range(60)]
    assert all(text is not None and re.search(pattern, text) for text in drawn)
    assert all(json.dumps(text, ensure_ascii=False) == f'"{text}"' for text in drawn)


@every("pattern", [pattern for pattern, found in EXACT if found.text and found.text != "^$"])
def test_the_common_form_matches_the_same_texts(pattern: str) -> None:  # K7
    sent = compiled({"type": "string", "pattern": plain(pattern).text})
    chance = Random(pattern)
    drawn = [patterns.drawn(pattern, chance) or "" for _ in range(40)]
    noise = ["".join(chance.choice("aAcv0.-_@ red]") for _ in range(chance.randint(0, 8))) for _ in range(200)]
    for text in [*drawn, *noise]:
        fits = bool(re.search(pattern, text))
        assert (sent.blocked_at(json.dumps(text, ensure_ascii=False)) < 0) == fits, text
    assert all(re.search(pattern, text) for text in plain(pattern).values)
