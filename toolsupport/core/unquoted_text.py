"""Returns the author's own words of a message, without pasted, quoted or attached text."""

from __future__ import annotations

import re

# Beginning of a pasted block → its end. The text formats write results of tools like this.
BLOCKS = (
    (re.compile(r"^[ \t>]*```", re.M), "```"),
    (re.compile(r"^[ \t>]*~~~", re.M), "~~~"),
    *(
        (re.compile(rf"<{tag}\b[^>\n]{{0,200}}>"), f"</{tag}>")
        for tag in ("tool_response", "tool_result", "tool_output", "tool_results")
    ),
    (re.compile(r"\[TOOL_RESULTS\]"), "[/TOOL_RESULTS]"),
    (re.compile(r"^[ \t]*Result of [^\n]{1,200}:[ \t]*$", re.M), "(end of the result)"),
)
# A quoted line, and the note that a model without vision reads in the place of images, which people paste back.
NOT_OWN = re.compile(r"[ \t]*(?:>|\[Attached: )")


def own_words(text: str) -> str:
    """The author's own words on one line; "" where there are none."""
    for opening, closing in BLOCKS:
        text = _without(text, opening, closing)
    return " ".join(" ".join(line for line in text.splitlines() if not NOT_OWN.match(line)).split())


def _without(text: str, opening: re.Pattern[str], closing: str) -> str:
    """The text without its closed blocks; a block that is not closed stays."""
    kept, place = [], 0
    while found := opening.search(text, place):
        end = text.find(closing, found.end())
        if end < 0:
            break
        kept.append(text[place : found.start()])
        place = end + len(closing)
    return "\n".join([*kept, text[place:]])
