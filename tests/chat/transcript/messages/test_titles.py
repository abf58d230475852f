"""The automatic title of a chat: the first words, without Markdown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chat.transcript.messages.titles import TITLE_LENGTH, title_of
from tests.tables import every

TITLES = [
    ("short", "short"),
    ("  Where is\nthe config? ", "Where is the config?"),
    ("word " * 30, "word " * 11 + "word…"),
    ("x" * 90, "x" * 60 + "…"),
    ("# Plan\n- **first** thing", "Plan first thing"),
    ("> quoted\n1. one", "quoted one"),
    ("Explain `read_file` and snake_case", "Explain read_file and snake_case"),
    ("See [the docs](https://example.org/x) please", "See the docs please"),
    ("_Why_ does this fail?\n```python\nx = 1\n```", "Why does this fail?"),
    ("```\nonly code\n```", "only code"),
    ("What is 2 * 3, and **what is** 17*23?", "What is 2 * 3, and what is 17*23?"),
    ("***", "***"),
]


# C10
@every(("text", "title"), TITLES)
def test_titles(text: str, title: str) -> None:
    assert title_of(text) == title


@given(st.text(alphabet="ab _*`#>[]()!\n~1.-", min_size=1).filter(str.strip))
def test_whatever_is_said_gets_a_short_title(text: str) -> None:
    title = title_of(text)
    assert title
    assert len(title) <= TITLE_LENGTH + 1
    assert title == title.strip() and "\n" not in title
