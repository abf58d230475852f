"""A text is split into the same blocks however it arrives, and each block means what it means in the whole."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.growth import grows_no_faster
from toolsupport.core.markdown_blocks import BlockSplitter, split

MARKDOWN = MarkdownIt("js-default", {"html": False})
WHOLE: dict[str, tuple[str, list[str]]] = {
    "paragraphs": ("a\nb\n\nc", ["a\nb\n\n", "c"]),
    "a heading between lines": ("a\n# b\nc", ["a\n", "# b\n", "c"]),
    "a fence between lines": ("a\n```py\nb\n\nc\n```\nd", ["a\n", "```py\nb\n\nc\n```\n", "d"]),
    "a longer fence": ("````\n```\n\n````\na", ["````\n```\n\n````\n", "a"]),
    "code that is never closed": ("```\na\n\n# b\n\n- c", ["```\na\n\n# b\n\n- c"]),
    "words that look like a fence": ("a\n```b``` c", ["a\n```b``` c"]),
    "a loose list": ("- a\n\n- b\n\n  c\n\nd", ["- a\n\n- b\n\n  c\n\n", "d"]),
    "code in a list": (
        "1. a\n   ```\n   b\n\n   c\n   ```\n2. d\n\ne",
        ["1. a\n   ```\n   b\n\n   c\n   ```\n2. d\n\n", "e"],
    ),
    "a fence that ends a list": ("1. a\n```\nb\n```\n2. c", ["1. a\n", "```\nb\n```\n", "2. c"]),
    "a word with a dash after a list": ("- a\n\n-b\n\nc", ["- a\n\n", "-b\n\n", "c"]),
    "a setext heading": ("a\n---\n\nb", ["a\n---\n\n", "b"]),
    "a lazy quote": ("> a\nb\n\n> c", ["> a\nb\n\n", "> c"]),
    "a table": ("|a|\n|-|\n|b|\n\nc", ["|a|\n|-|\n|b|\n\n", "c"]),
    "indented code": ("    a\n\n    b\n\nc", ["    a\n\n    b\n\n", "c"]),
    "blank lines before": ("\n\na\n\nb", ["\n\na\n\n", "b"]),
    "other line ends": ("a\r\n\r\n```\r\nb\r\n```\r\nc", ["a\r\n\r\n", "```\r\nb\r\n```\r\n", "c"]),
    "nothing": ("", []),
}
# No fence that is indented after a list: whether it is in the item depends on more than the lines of the block.
PIECES = [
    *("a", "text **b** c", "`x`", "[a]: http://x\n", "[a]", "\n```x``` y\n", "foo\n\nbar\n", "+ y\n\n"),
    *("\n", "\n\n", "\r\n", "- ", "1. ", "2) ", "* x\n", "    ", "  ", " ", "> ", "\t", "1", "-", "#", "`", "~"),
    *("\n```\n", "\n```py\n", "\n~~~\n", "\n# h\n", "\n## ", "\n---\n", "\n===\n", "\n$$\n"),
]
TABLE = "\n|a|b|\n|-|-|\n|1|2|\n"
texts = st.lists(st.sampled_from([*PIECES, TABLE]), max_size=14).map("".join)


def test_blocks_of_whole_texts() -> None:
    assert {name: split(text) for name, (text, _) in WHOLE.items()} == {
        name: blocks for name, (_, blocks) in WHOLE.items()
    }


@given(texts, st.lists(st.integers(1, 7), min_size=1, max_size=6))
@example("`" * 400 + "\na", [1])
@example("a\n\n" + " " * 400 + "b\n\n- c", [1])
@example("- a\n\n12345678901. b", [1])
def test_how_a_text_arrives_does_not_matter(text: str, sizes: list[int]) -> None:
    splitter, found, start = BlockSplitter(), list[str](), 0
    while start < len(text):
        size = sizes[start % len(sizes)]
        found += splitter.feed(text[start : start + size])
        start += size
    assert [*found, splitter.rest] == [*split(text), ""] or [*found, splitter.rest] == split(text)
    assert "".join([*found, splitter.rest]) == text


@given(texts)
@example("- a\n---\n   ```\n# b\n")
@example("- a\n> b\n   ```\n# c\n")
@example("10) a\n* * *\n   ~~~\n# c\n")
def test_blocks_mean_the_same_as_the_whole(text: str) -> None:
    links: dict[str, dict[str, object]] = {}
    whole = MARKDOWN.render(text, links)
    assert (
        "".join(
            MARKDOWN.render(block, dict(references=dict(links["references"]) if links else {})) for block in split(text)
        )
        == whole
    )


def test_the_time_grows_with_the_text() -> None:
    def one_by_one(bit: str) -> object:
        def run(length: int) -> None:
            splitter = BlockSplitter()
            for character in (bit * length)[:length]:
                splitter.feed(character)

        return run

    for bit in ("a", "`", " ", "- a\n", "\n", "a\n\n", "```\n"):
        assert grows_no_faster(one_by_one(bit), 2_000, 20_000), bit  # type: ignore[arg-type]


def test_a_long_line_that_arrives_whole_is_read_once() -> None:
    for bit in ("|", "~", "x ", "- ", "`"):
        assert grows_no_faster(lambda length, bit=bit: split((bit * length)[:length]), 20_000, 200_000), bit  # type: ignore[misc]
