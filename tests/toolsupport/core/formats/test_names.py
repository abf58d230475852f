"""Every format that the family table names has a parser."""

from __future__ import annotations

import pytest

from tests.tables import every
from toolsupport.core.families.table import CALL_FORMATS
from toolsupport.core.formats import ALIASES, FORMATS, parser

WITHOUT_TEXT = {"native", "unknown", ""}


@every("name", sorted(CALL_FORMATS - WITHOUT_TEXT))
def test_a_format_of_the_family_table_can_be_read(name: str) -> None:  # F1
    assert parser(name, ()).flush() == []


def test_another_name_leads_to_a_format_and_hides_none() -> None:
    assert set(ALIASES.values()) <= set(FORMATS) and not set(ALIASES) & set(FORMATS)


def test_a_name_that_nobody_knows_is_told() -> None:
    with pytest.raises(KeyError):
        parser("no_such_format", ())
