"""Codes of authenticator apps: the vectors of RFC 6238, clocks that differ, codes that were used."""

from __future__ import annotations

import pytest

from tests.tables import every
from toolsupport.core import one_time_codes

SECRET = b"12345678901234567890"  # of RFC 6238, appendix B
VECTORS = [
    (59, "94287082"),
    (1111111109, "07081804"),
    (1111111111, "14050471"),
    (1234567890, "89005924"),
    (2000000000, "69279037"),
    (20000000000, "65353130"),
]
NOW = 1111111111  # the second second of step 37037037, whose code is 050471; the one before has 081804
STEP = 37037037


@pytest.mark.parametrize(("at", "code"), VECTORS)
def test_codes_of_the_standard(at: int, code: str) -> None:
    assert one_time_codes.code(SECRET, at // 30, digits=8) == code
    assert one_time_codes.code(SECRET, at // 30) == code[2:]
    assert one_time_codes.matching_step(SECRET, code[2:], at) == at // 30


@every(
    "given, now, after, step",
    [
        ("050471", NOW, -1, STEP),
        ("081804", NOW, -1, STEP - 1),  # a clock that is behind
        ("050471", NOW - 2, -1, STEP),  # one that is ahead
        ("050471", NOW + 58, -1, STEP),  # the last second of the next step
        ("050471", NOW + 59, -1, None),
        ("050471", NOW - 32, -1, None),
        ("050471", NOW, STEP - 1, STEP),
        ("050471", NOW, STEP, None),  # used
        ("081804", NOW, STEP, None),  # older than a used one
        ("", NOW, -1, None),
        ("50471", NOW, -1, None),
        ("0504710", NOW, -1, None),
        ("٠٥٠٤٧١", NOW, -1, None),
        ("050471", 0, -1, None),  # no step is negative
    ],
)
def test_a_code_counts_for_three_steps_and_once(given: str, now: int, after: int, step: int | None) -> None:
    assert one_time_codes.matching_step(SECRET, given, now, after) == step


@every(
    "typed, normal, of_an_app",
    [
        ("050 471", "050471", True),
        (" 050471\n", "050471", True),
        ("05047", "05047", False),
        ("٠٥٠٤٧١", "٠٥٠٤٧١", False),
        ("abcdef-234567-abcdef-234567", "ABCDEF234567ABCDEF234567", False),
        ("--", "", False),
    ],
)
def test_codes_are_read_as_people_type_them(typed: str, normal: str, of_an_app: bool) -> None:
    assert one_time_codes.normal(typed) == normal
    assert one_time_codes.is_app_code(normal) is of_an_app


def test_an_app_reads_key_and_address() -> None:
    key = one_time_codes.as_key(SECRET)
    assert key == "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" and one_time_codes.secret_of(key) == SECRET
    assert one_time_codes.address(key, "ana@box: 1", "tool support") == (
        f"otpauth://totp/tool%20support:ana%40box%3A%201?secret={key}&issuer=tool%20support"
    )
    assert one_time_codes.in_groups("ABCDEF234567") == "ABCDEF-234567"
