"""A diff is right wherever the change is, and its plain form needs linear time."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from tests.growth import grows_no_faster
from tests.tables import every
from toolsupport.core import text_diff
from toolsupport.core.text_diff import TextChange, compared, outlined

LINES = st.lists(st.sampled_from(["a", "b", "--- c", "@@ -1 +1 @@", "", "…"]), max_size=30)
PLACE = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def patched(old: list[str], diff: list[str]) -> list[str]:
    """The new lines, made from the old ones by applying a diff as its numbers say."""
    made, at, left_old, left_new = list[str](), 0, 0, 0
    for line in diff[2:]:
        if not left_old and not left_new:
            place = PLACE.fullmatch(line)
            assert place is not None, line
            left_old, left_new = int(place[2] or 1), int(place[4] or 1)
            begin = int(place[1]) - 1 if left_old else int(place[1])
            made, at = made + old[at:begin], begin
            assert len(made) == (int(place[3]) - 1 if left_new else int(place[3]))
            continue
        left_old -= line[0] in " -"
        left_new -= line[0] in " +"
        if line[0] in " -":
            assert old[at] == line[1:]
            at += 1
        made += [line[1:]] if line[0] in " +" else []
    return made + old[at:]


@given(LINES, LINES, LINES, LINES)
def test_a_diff_leads_from_the_old_text_to_the_new(
    head: list[str], old: list[str], new: list[str], tail: list[str]
) -> None:
    before, after = [*head, *old, *tail], [*head, *new, *tail]
    change = TextChange("a", "\n".join(before) + "\n", "\n".join(after) + "\n")
    for lines in (text_diff.compared_lines(change), text_diff.replaced_lines(change)):
        assert patched(text_diff.lines_of(change.before or ""), lines) == text_diff.lines_of(change.after)


@every(
    "before, after, wanted",
    [
        (None, "a\n", "--- (new file)\n+++ f\n@@ -0,0 +1 @@\n+a"),
        ("a\n", "", "--- f\n+++ f\n@@ -1 +0,0 @@\n-a"),
        ("a\n", "a", ""),
        ("1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\nx\n6\n", "--- f\n+++ f\n@@ -2,5 +2,5 @@\n 2\n 3\n 4\n-5\n+x\n 6"),
        ("a\nb", "a\nb\n" + "c\n" * 500, "… and 105 more lines"),
        ("a", "a" * 300_000, "more characters"),
    ],
)  # fmt: skip
def test_a_diff_shows_the_change(before: str | None, after: str, wanted: str) -> None:
    diff = compared("f", before, after)
    assert diff == wanted or (wanted.startswith(("…", "more")) and wanted in diff.rsplit("\n", 1)[1])


def test_an_outline_has_the_sizes_and_both_ends() -> None:
    before = "same\n" + "".join(f"old {n}\n" for n in range(60_000))
    after = "same\n" + "".join(f"new {n}\n" for n in range(50_000))
    diff = outlined("f", before, after)
    assert "60,000 lines are replaced by 50,000 lines" in diff
    assert all(f"\n{line}\n" in f"{diff}\n" for line in (" same", "-old 0", "-old 59999", "+new 0", "+new 49999"))
    assert len(diff.splitlines()) < 100


def test_an_outline_needs_linear_time() -> None:
    def outline(length: int) -> str:
        return outlined("f", "a\nb\n" * length, "b\nc\n" * length)

    assert grows_no_faster(outline, 4_000, 32_000)
