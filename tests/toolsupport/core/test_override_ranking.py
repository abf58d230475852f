"""Which tests of a model are to be repeated, because they were made of another build."""

from __future__ import annotations

from dataclasses import replace

from tests.tables import every
from tests.toolsupport.core.test_resolve import CHAT, NOW, THEN, withdrawal
from toolsupport.core.override_ranking import OverrideRow, older_tests

STALE_TEST = OverrideRow(1001, 1, "tools", True, "auto_detected", build_key=THEN)
OLD_TEST = replace(STALE_TEST, kind="tools")
OLD_FORMATS = replace(STALE_TEST, id=1002, seq=2, capability="format", value="hermes", kind="formats")
# Claims → the kinds of tests to repeat.
OLDER: list[tuple[list[OverrideRow], set[str]]] = [
    ([], set()),
    ([OLD_TEST], {"tools"}),
    ([STALE_TEST], {"tools"}),  # imported, without a test
    ([OLD_TEST, OLD_FORMATS], {"tools", "formats"}),
    ([OLD_TEST, OLD_FORMATS, replace(OLD_TEST, id=1003, seq=3, build_key=NOW)], set()),
    ([OLD_TEST, OLD_FORMATS, replace(OLD_FORMATS, id=1003, seq=3, build_key=NOW)], {"tools"}),
    ([OLD_TEST, withdrawal(3, OLD_TEST)], set()),
    ([OLD_TEST, withdrawal(3, OLD_TEST, session=CHAT)], {"tools"}),
    ([replace(OLD_TEST, session=CHAT)], set()),
    ([replace(OLD_TEST, source="user_confirmed")], set()),
    ([replace(OLD_TEST, source="declared")], set()),
    ([OLD_TEST, replace(OLD_TEST, id=1003, seq=3, source="declared", build_key=NOW)], {"tools"}),
]


@every(("claims", "kinds"), OLDER)
def test_tests_of_another_build_are_to_be_repeated(claims: list[OverrideRow], kinds: set[str]) -> None:  # M3
    assert older_tests(claims, NOW) == kinds
