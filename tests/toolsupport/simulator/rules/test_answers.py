"""Answers of simulated models."""

from __future__ import annotations

from tests.tables import every
from toolsupport.simulator.rules.answers import PLAIN, fenced, with_result, without_tool
from toolsupport.simulator.rules.intents import Intent, IntentKind, understand


def told(words: str, result: str) -> str:
    return with_result(understand(words)[0], result)


def test_every_kind_of_wish_has_words() -> None:
    assert set(PLAIN) == set(IntentKind)
    values = {"path": "a", "expression": "1+1", "content": "a"}
    assert all(without_tool(Intent(kind, "1+1", values)) for kind in IntentKind)


def test_without_tools_it_says_so_helpfully() -> None:
    said = without_tool(understand("Read config.json")[0])
    assert "cannot read `config.json`" in said
    assert "no tool for it was offered" in said
    assert "the folder here" in without_tool(understand("What's in this folder?")[0])


def test_a_text_to_repeat_is_repeated_whatever_words_it_has() -> None:
    asked = 'Reply with exactly this text and nothing else: {"code": "A1"}\nAny other code is forbidden.'
    assert [without_tool(intent) for intent in understand(asked)] == ['{"code": "A1"}']


def test_an_unknown_request_is_owned_up_to() -> None:  # M8
    said = without_tool(understand("What is love?")[0])
    assert "no rule for it" in said
    assert "simulated model" in said


@every(
    ("words", "result", "said"),
    [
        ("What's in this folder?", "a\nb/", "This folder holds 2 entries:\n\n- `a`\n- `b/`"),
        ("What's in this folder?", "", "This folder is empty."),
        ("What's in the docs folder?", "a", "The folder `docs` holds 1 entry:\n\n- `a`"),
        ("Read a.json and tell me the version", '{"version": "1"}', "The version in `a.json` is **1**."),
        ("Read a.txt", "", "`a.txt` is empty."),
        (
            "Sum column b of data.csv with Python",
            "Traceback (most recent call last):\n  line 4\nKeyError: b",
            "That did not work with `data.csv`. The tool reported:\n\n> KeyError: b",
        ),
        ("Read a.py", "x = 1", "`a.py` has 1 line. It says:\n\n```python\nx = 1\n```"),
        ("Read a.csv", "x,y\n1,2", "`a.csv` has 2 lines:\n\n| x | y |\n| --- | --- |\n| 1 | 2 |"),
        ("Write hi to a.txt", "ok", "Done: I wrote `a.txt`."),
        ("replace a with b in c.txt", "ok", "Done: I changed `c.txt`."),
        ("run `ls`", "a\n", "I ran `ls`. It printed:\n\n```\na\n```"),
        ("run `true`", "", "I ran `true`. It printed nothing."),
        ("What is 2*3?", "6", "2 × 3 = **6**"),
        (
            "Read a.txt",
            "Error: no such file",
            "That did not work with `a.txt`. The tool reported:\n\n> Error: no such file",
        ),
    ],
)
def test_answers_from_the_real_result(words: str, result: str, said: str) -> None:
    assert told(words, result) == said


def test_a_long_listing_and_a_long_file_are_cut_short() -> None:
    assert "… and 60 more" in told("ls", "\n".join(map(str, range(100))))
    assert "has 100 lines. It begins" in told("Read a.txt", "x\n" * 100)


def test_a_missing_topic_is_admitted() -> None:
    assert told("Read a.json and tell me the colour", "{}").startswith("I see no colour in `a.json`.")


def test_a_fence_is_longer_than_any_inside() -> None:
    assert fenced("```\ncode\n```") == "````\n```\ncode\n```\n````"
