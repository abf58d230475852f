"""Words that lead to a call: any that announce none make it a mention."""

from __future__ import annotations

import json

import pytest

from tests.databases import ROOT
from tests.tables import every
from tests.toolsupport.core.formats.replies import calls, read, text
from tests.toolsupport.core.formats.test_example_cues import FORMATS, FORMATS_PAGE, made
from tests.toolsupport.core.formats.test_mentioned_calls import TOOLS, written
from toolsupport.core.formats.call_intent import is_label, names_the_call
from toolsupport.core.types import ToolCall

ROWS = [
    json.loads(line)
    for line in (ROOT / "tests/toolsupport/core/formats/frames_by_intent.jsonl").read_text().splitlines()
]
SHOWN = tuple(row["shown"] for row in ROWS if "shown" in row)
MEANT = tuple(row["meant"] for row in ROWS if "meant" in row)
# Words that no list has.
UNKNOWN = (
    "Qwyzzle: @",
    "The brimbory of the plonk: @",
    "Zorblax\u00e9: @",
    "\u041a\u0432\u0430\u043a\u043e\u0437\u044f\u0431\u0440\u0430: @",
    "\u9f49\u9f7c\uff1a@",
    "Blorptag 12: @",
)


@pytest.mark.parametrize("name", FORMATS)
@every("frame", SHOWN)
def test_words_that_announce_no_call_show_it(name: str, frame: str) -> None:  # F3
    assert made(name, frame) == 0


@pytest.mark.parametrize("name", FORMATS)
@every("frame", MEANT)
def test_words_that_announce_a_call_mean_it(name: str, frame: str) -> None:  # F3
    assert made(name, frame) == 1


@pytest.mark.parametrize("name", FORMATS)
@every("frame", UNKNOWN)
def test_unknown_words_in_front_of_a_call_show_it(name: str, frame: str) -> None:  # F3
    assert made(name, frame) == 0


# The same words with other ends: only the end decides.
@every(
    "words, shown",
    [
        ("Rows of the table", True),
        ("The table.", False),
        ("Rows of the table?", True),
        ("Rows of the table? Let me see.", False),
        ("Rows of the table? They are old.", True),
        ("# Rows of the table", False),
        ("- Rows of the table", False),
        ("**Rows of the table**", False),
        ("They are written thus.", True),
        ("I write them thus.", False),
        ("If you agree, they go.", True),
        ("I agreed, so they go.", False),
        ("Please approve it.", True),
        ("Thanks for approving it.", False),
    ],
)
def test_the_end_of_the_line_above_a_call_decides(words: str, shown: bool) -> None:  # F3
    for blank in ("\n", "\n\n"):
        assert made("hermes", f"{words}{blank}@") == (not shown)


def test_three_quotes_hold_paragraphs() -> None:
    assert made("hermes", '"""\nUsage\n\n@\n"""') == 0
    assert made("hermes", '"""\nUsage\n\n"""\n\n@') == 1


def test_words_that_name_what_the_call_is_about_mean_it() -> None:
    call = ToolCall("1", "get_weather", {"city": "Rome", "text": "x" * 300 + " riddle"})
    assert names_the_call("Rome: ", call) and names_the_call("Weathers of the day: ", call)
    assert not names_the_call("Riddle: ", call) and not names_the_call("City: ", call)
    assert is_label("Rome: ")
    assert made("hermes", "Deletions: @") == 1


@every(
    "frame",
    [
        "@\n\nThis is what a call looks like.",
        "@\nNow I wait for it.\n",
        "@\n\nLines below.",
        "@\n\n\u8fd9\u53ea\u662f\u4f8b\u5b50\u3002",
        "@\n\n@",
    ],
)
def test_a_sentence_below_a_call_in_any_pieces(frame: str) -> None:
    reply = frame.replace("@", written("hermes"))
    whole = read("hermes", [reply], tools=TOOLS)
    assert read("hermes", list(reply), tools=TOOLS) == whole
    assert len(calls(whole)) + text(whole).count("<tool_call>") == frame.count("@")


def test_the_documentation_counts_these_frames() -> None:
    assert f"{len(SHOWN):,} of labels and {len(MEANT):,} of announcements" in FORMATS_PAGE.read_text()
