"""Only what a person wrote counts as their words."""

from __future__ import annotations

from tests.processor_time import must_cost_at_most
from tests.tables import every
from toolsupport.core.unquoted_text import own_words

ASKED = "create an issue on github"
WITHOUT_IT = {
    "nothing else": ASKED,
    "a note about images": f"{ASKED}\n\n[Attached: cat.png, dog.png. You cannot see images.]",
    "a note about images that are gone": f"[Attached: a.png. They are no longer shown.]\n{ASKED}",
    "a quoted result": f"> weather: 12 degrees in Oslo\n> rain\n{ASKED}",
    "a fence": f'```json\n{{"weather": 12}}\n```\n{ASKED}',
    "a fence of tildes": f"{ASKED}\n~~~\nweather\n~~~",
    "a result in tags": f"<tool_response>\nweather: 12\n</tool_response>\n{ASKED}",
    "a result in marks": f'[TOOL_RESULTS] {{"content": "weather"}} [/TOOL_RESULTS]\n{ASKED}',
    "a result in words": f"Result of get_weather:\n12 degrees\n(end of the result)\n{ASKED}",
}


# T5
@every("case, text", WITHOUT_IT.items())
def test_what_was_pasted_quoted_or_attached_is_left_out(case: str, text: str) -> None:
    assert own_words(text) == ASKED, case


def test_nothing_of_ones_own_is_nothing() -> None:
    assert own_words("[Attached: cat.png. You cannot see images.]") == own_words("> quoted\n```\ncode\n```") == ""


def test_an_open_block_is_ones_own_and_long_texts_take_no_time() -> None:
    assert own_words("run ``` in the shell, please") == "run ``` in the shell, please"
    with must_cost_at_most(2):
        for piece in ("```\n", "<tool_response>", "Result of x:\n", "> ", "[TOOL_RESULTS]"):
            own_words(piece * 20_000)
