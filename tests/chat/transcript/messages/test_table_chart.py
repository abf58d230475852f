"""Which tables get bars and a line, and where these are drawn."""

from __future__ import annotations

import pytest

from chat.transcript.messages.table_chart import Chart, chart, fit
from tests.processor_time import must_cost_at_most
from tests.tables import every

BARS = [
    ("names and numbers", ["Mon,5", "Tue,20", "Wed,0"], 1, [(0, 25), (0, 100), (0, 0)]),
    ("months and numbers", ["2025-01,31", "2025-02,1.5"], 1, [(0, 100), (0, 4.8)]),
    ("numbers and names", ["5,Mon", "20,Tue"], 0, [(0, 25), (0, 100)]),
    ("years and numbers", ["2023,5", "2024,10", "2025,2"], 1, [(0, 50), (0, 100), (0, 20)]),
    ("years, newest first", ["2025,5", "2024,10"], 1, [(0, 50), (0, 100)]),
    ("numbers below zero", ["Mon,5", "Tue,-5"], 1, [(50, 50), (0, 50)]),
    ("numbers below zero only", ["Mon,-1", "Tue,-4"], 1, [(75, 25), (0, 100)]),
    ("averages of SQLite", ["Ann,3.3333333333333335", "Ben,0.30000000000000004"], 1, [(0, 100), (0, 9)]),
    ("large numbers", ["Ann,1e+20", "Ben,123456789012345678"], 1, [(0, 100), (0, 0.1)]),
    ("a missing number", ["Ann,4", "Ben,", "Cy,2"], 1, [(0, 100), None, (0, 50)]),
    ("a missing name", [",4", "Ben,2"], 1, [(0, 100), (0, 50)]),
    ("names from right to left", ["תה,4", "شاي,2"], 1, [(0, 100), (0, 50)]),
]
NO_BARS = [
    ("one row", ["Mon,5"]),
    ("no row", []),
    ("zeros", ["Mon,0", "Tue,0"]),
    ("numbers in no order", ["1,5", "3,6", "2,7"]),
    ("numbers twice", ["1,5", "1,6"]),
    ("a number that is missing in front", ["1,5", ",6", "2,7"]),
    ("a text among numbers", ["Mon,5", "Tue,many"]),
    ("texts", ["Mon,few", "Tue,many"]),
    ("three columns", ["Mon,5,x", "Tue,6,y"]),
    ("a row of one cell", ["Mon,5", "Tue"]),
    ("no finite numbers", ["Mon,nan", "Tue,1e999", "Wed,inf"]),
    ("one number", ["Mon,5", "Tue,"]),
    ("codes with letters", ["Mon,0x10", "Tue,0x20"]),
]
HEAD = ["day", "orders"]


def drawn(rows: list[str], head: list[str] = HEAD) -> Chart | None:
    return chart(head, [row.split(",") for row in rows])


@every("case, rows, column, bars", BARS)
def test_names_and_numbers_have_bars(
    case: str, rows: list[str], column: int, bars: list[tuple[float, float] | None]
) -> None:
    found = drawn(rows)
    assert found is not None and (found.column, found.bars) == (column, bars), case


@every("case, rows", NO_BARS)
def test_other_tables_have_none(case: str, rows: list[str]) -> None:
    assert drawn(rows) is None, case


@every(
    "rows, path, text",
    [
        (
            ["Ju,5", "Jul,10", "May,0"],
            "M0.0 20.0L50.0 0.0L100.0 40.0",
            "3 points: lowest 0 at May, highest 10 at Jul.",
        ),
        (
            ["Ju,-5", "Jul,5", "May,0"],
            "M0.0 40.0L50.0 0.0L100.0 20.0",
            "3 points: lowest -5 at Ju, highest 5 at Jul.",
        ),
        (
            ["a,1", "b,2", "c,", "d,1", "e,"],
            "M0.0 20.0L25.0 0.0M75.0 20.0h0",
            "3 points: lowest 1 at a, highest 2 at b.",
        ),
        (["a,1", "b,2"], "", ""),
    ],
)
def test_three_numbers_or_more_have_a_line_with_its_sentence(rows: list[str], path: str, text: str) -> None:
    found = drawn(rows)
    assert found is not None
    assert found.path == path
    assert found.text == (text and f"orders by day, {text}")


def test_the_sentence_names_the_columns_as_they_stand_and_shortens_long_names() -> None:
    found = drawn(["5,Mon", "7,Tue", "6," + "x" * 5000], ["orders", "day"])
    assert found is not None and found.text == "orders by day, 3 points: lowest 5 at Mon, highest 7 at Tue."
    found = drawn(["5,Mon", "7," + "x" * 5000, "6,Wed"], ["orders", "y" * 5000])
    assert found is not None and len(found.text) < 250


@pytest.mark.parametrize(
    ("result", "drawn"),
    [
        ("month,orders\n2025-01,31\n2025-02,28\n2025-03,36\n\n[3 rows]", True),
        ("month,orders\n2025-01,31\n2025-02,28\n\n[2 rows]", False),
        ("month,orders,sum\n2025-01,31,2\n2025-02,28,3\n2025-03,36,3\n\n[3 rows]", False),
        ("name,orders\nAnn,many\nBob,few\nCy,some\n\n[3 rows]", False),
        ("", False),
        ("[No rows]", False),
    ],
)
def test_a_result_of_names_and_numbers_is_a_chart(result: str, drawn: bool) -> None:
    assert fit(result) is drawn


def test_a_long_result_is_judged_at_once() -> None:
    with must_cost_at_most(5):
        for cell in ("9" * 10_000, "1" * 18 + "." + "1" * 9_000, "1e" * 5_000, "-" * 10_000):
            assert fit("name,number\n" + f"x,{cell}\n" * 1_000 + "\n\n[1000 rows]") is False
