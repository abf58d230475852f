"""Blocks of reasoning, as OpenRouter streams them: whole again in their order, whatever else a server sends."""

from __future__ import annotations

from typing import Any

from tests.growth import grows_no_faster
from tests.tables import every
from toolsupport.providers import reasoning_blocks
from toolsupport.providers.reasoning_blocks import ReasoningBlocks


def joined(*given: Any) -> list[Any]:
    blocks = ReasoningBlocks()
    for each in given:
        blocks.feed(each)
    return list(blocks.joined())


def text(words: str, **more: Any) -> Any:
    return {"type": "reasoning.text", "text": words, "index": 0, **more}


def sealed(data: str, call: str = "", **more: Any) -> Any:
    return {"type": "reasoning.encrypted", "data": data, "index": 0, **({"id": call} if call else {}), **more}


SUMMARY = {"type": "reasoning.summary", "index": 0, "format": "openai-responses-v1"}
NEW = {"type": "reasoning.image", "url": "u", "index": 3}
NO_TEXT = {"type": "reasoning.text", "text": 5, "index": 0}

# name → the lists of the chunks, and the blocks
REPLIES: dict[str, tuple[list[Any], list[Any]]] = {
    "nothing": ([], []),
    "empty": ([[], None, "x", {}, [None], [{"text": "no type"}], [{"type": 1}]], []),
    "text in pieces": ([[text("a")], [text("b"), text("c")]], [text("abc")]),
    # Claude's signature comes last, and the pieces before it have an empty one.
    "a signature at the end": (
        [[text("a", signature="")], [text("b", signature=None)], [{**text(""), "signature": "s"}]],
        [text("ab", signature="s")],
    ),
    "a signature stays": ([[text("a", signature="s")], [text("b", signature="")]], [text("ab", signature="s")]),
    "summaries": ([[SUMMARY | {"summary": part}] for part in "xy"], [SUMMARY | {"summary": "xy"}]),
    "two texts": ([[text("a"), text("b", index=1)], [text("c", index=1)]], [text("a"), text("bc", index=1)]),
    "without an index": ([[{"type": "reasoning.text", "text": "a"}]] * 2, [{"type": "reasoning.text", "text": "aa"}]),
    "one of each call": ([[sealed("x", "1"), sealed("y", "2")]], [sealed("x", "1"), sealed("y", "2")]),
    "sent again": ([[sealed("x", "1")], [sealed("x", "1")]], [sealed("x", "1")]),
    "data in pieces": ([[sealed("x", "1")], [sealed("y", "1")]], [sealed("xy", "1")]),
    "text, then data": ([[text("a")], [sealed("x", "1")], [text("b")]], [text("ab"), sealed("x", "1")]),
    "a type of later": ([[NEW]], [NEW]),
    "no text": ([[NO_TEXT]], [NO_TEXT]),
}


@every("name", REPLIES)
def test_blocks(name: str) -> None:
    given, wanted = REPLIES[name]
    assert joined(*given) == wanted


def test_too_large_ones_are_left_out_whole() -> None:
    """What lacks a part would be refused; an endless one is not kept."""
    piece = "x" * (reasoning_blocks.MOST // 4)
    assert joined(*[[text(piece)]] * 3) == [text(piece * 3)]
    assert joined(*[[text(piece)]] * 4) == joined(*[[text(piece)]] * 40) == []


def test_the_work_grows_with_the_pieces() -> None:
    assert grows_no_faster(lambda count: joined(*[[text("ab")]] * count), 2_000, 16_000)
