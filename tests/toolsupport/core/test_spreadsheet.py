"""CSV cells that a spreadsheet program would run are made text; everything else stays as it is."""

from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.core import spreadsheet

FORMULAS = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "\uff1d1+1",
    '=HYPERLINK("x")',
    "-",
    "+",
]
PLAIN = ["", "a=b", "-1", "+1", "-1.5e-7", "-.5", "2024-01-01", "'=1", "name@example.org", "Tee, grün", 'say "hi"']


@every("text", FORMULAS)
def test_a_formula_becomes_text(text: str) -> None:
    assert spreadsheet.cell(text) == f"'{text}"


@every("text", PLAIN)
def test_what_is_no_formula_stays_as_it_is(text: str) -> None:
    assert spreadsheet.cell(text) == text


def test_values_are_cells() -> None:
    assert [spreadsheet.cell(value) for value in (None, 0, -3, True)] == ["", "0", "-3", "True"]


def test_a_cell_larger_than_the_csv_module_reads_by_itself_is_kept() -> None:
    assert len(spreadsheet.safe("a\n" + "x" * 300_000 + "\n")) > 300_000


def test_a_lone_carriage_return_hides_no_formula() -> None:
    assert spreadsheet.safe("a\rb,c\n=d\r=e\n").splitlines() == ["a", "b,c", "'=d", "'=e"]


@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1), min_size=1
    )
)
def test_no_cell_of_any_table_begins_as_a_formula(rows: list[list[str]]) -> None:
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    for row in csv.reader(io.StringIO(spreadsheet.safe(written.getvalue()), newline="")):
        for cell in row:
            assert cell[:1] not in ("=", "@", "\t", "\r", "\n") or cell == ""
