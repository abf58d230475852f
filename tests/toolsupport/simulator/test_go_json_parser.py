"""Go's complaints about JSON; the texts were printed by Go itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.simulator.go_json_parser import Malformed, decode

COMPLAINTS = [
    ("", "EOF"),
    ("  \n", "EOF"),
    ("{", "unexpected EOF"),
    ('{"a"', "unexpected EOF"),
    ("[1,", "unexpected EOF"),
    ('"abc', "unexpected EOF"),
    ('{"a":"é', "unexpected EOF"),
    ("nul", "unexpected EOF"),
    ("nope", "invalid character 'o' in literal null (expecting 'u')"),
    ('{"a":tru}', "invalid character '}' in literal true (expecting 'e')"),
    ("{'a':1}", "invalid character '\\'' looking for beginning of object key string"),
    ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
    ("{1:2}", "invalid character '1' looking for beginning of object key string"),
    ('{"a":"\n"}', "invalid character '\\n' in string literal"),
    ('{"a":"\\q"}', "invalid character 'q' in string escape code"),
    ('{"a" 1}', "invalid character '1' after object key"),
    ('{"a":01}', "invalid character '1' after object key:value pair"),
    ('{"a":1 \x00}', "invalid character '\\x00' after object key:value pair"),
    ("[1 2]", "invalid character '2' after array element"),
    ('{"a":[1 2]}', "invalid character '2' after array element"),
    ('{"[":1 2}', "invalid character '2' after object key:value pair"),
    ('{"\\"[":1 2}', "invalid character '2' after object key:value pair"),
    ("}", "invalid character '}' looking for beginning of value"),
    ("NaN", "invalid character 'N' looking for beginning of value"),
    ('{"a":é}', "invalid character 'Ã' looking for beginning of value"),
]


@every(("text", "complaint"), COMPLAINTS)
def test_complains_as_go_does(text: str, complaint: str) -> None:
    with pytest.raises(Malformed) as raised:
        decode(text.encode())
    assert str(raised.value) == complaint


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 10_000, "-Infinity", "-"])
def test_extremes_are_complaints_too(text: str) -> None:
    with pytest.raises(Malformed):
        decode(text.encode())


def test_what_follows_the_first_value_is_not_looked_at() -> None:
    assert decode(b' {"a":1}x') == {"a": 1}


@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:1ntf\\u ', max_size=30).map(str.encode))
def test_any_bytes_give_a_value_or_a_complaint(data: bytes) -> None:
    try:
        value = decode(data)
    except Malformed as malformed:
        assert str(malformed)
    else:
        assert value is None or isinstance(value, str | int | float | bool | list | dict)
