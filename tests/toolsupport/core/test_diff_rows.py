"""A unified diff as people read it: numbers, changed words, gaps."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolsupport.core.diff_rows import DiffRow, layout
from toolsupport.core.text_diff import compared


def marked(row: DiffRow) -> list[str]:
    return [text for text, is_changed in row.pieces if is_changed]


def test_lines_have_their_numbers_and_changed_words_are_marked() -> None:
    shown = layout(compared("notes.md", "# Notes\n\nIt comes on Thursday.\nold\n", "# Notes\n\nIt comes on Friday.\n"))
    assert (shown.path, shown.added, shown.removed) == ("notes.md", 1, 2)
    assert [(row.kind, row.old, row.new) for row in shown.rows] == [
        ("same", 1, 1),
        ("same", 2, 2),
        ("removed", 3, None),
        ("removed", 4, None),
        ("added", None, 3),
    ]
    assert marked(shown.rows[2]) == ["Thursday"] and marked(shown.rows[4]) == ["Friday"]
    assert marked(shown.rows[3]) == []


def test_unchanged_runs_are_one_row() -> None:
    before = "\n".join(str(number) for number in range(1, 101))
    shown = layout(compared("n", before, before.replace("\n20\n", "\ntwenty\n").replace("\n80\n", "\neighty\n")))
    assert [row.text for row in shown.rows if row.kind == "gap"] == ["16 unchanged lines", "53 unchanged lines"]
    assert next(row.old for row in shown.rows if row.text == "80") == 80


def test_a_new_file_is_numbered_from_one() -> None:
    shown = layout(compared("new.md", None, "a\nb\n"))
    assert [(row.old, row.new, row.text) for row in shown.rows] == [(None, 1, "a"), (None, 2, "b")]


def test_a_text_that_is_no_diff_is_shown_whole() -> None:
    assert [row.text for row in layout("[too long]").rows] == ["[too long]"]
    assert layout("").rows[0].text == ""


@given(st.lists(st.text("ab \t.é", max_size=12), max_size=8), st.lists(st.text("ab \t.é", max_size=12), max_size=8))
def test_no_text_of_a_diff_is_lost(old: list[str], new: list[str]) -> None:
    diff = compared("x", "\n".join(old), "\n".join(new))
    rows = [row for row in layout(diff).rows if row.kind != "gap"]
    assert all("".join(text for text, _ in row.pieces) == row.text for row in rows)
    lines = [line[1:] for line in diff.split("\n")[2:] if not line.startswith("@@")]
    assert [row.text for row in rows] == lines if diff else True
