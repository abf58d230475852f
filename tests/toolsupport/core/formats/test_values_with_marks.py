"""A value with the closing marks of its own call is read unchanged or rejected: never cut, never extended."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.tables import every
from tests.toolsupport.core.final_reply import Told, told
from tests.toolsupport.core.formats.replies import WRITE
from toolsupport.core.formats import FORMATS
from toolsupport.core.types import ToolCall

# Formats in which the value of a text stands between marks and is not escaped.
NAMES = (
    "qwen3_coder_xml", "seed_oss", "glm45", "longcat", "hy_v3", "deepseek_dsml", "gigachat35", "minimax_m2",
    "minimax_m3", "invoke", "dots", "step3", "muse_glimmer", "minicpm5", "kimi_k3", "gemma4", "functiongemma",
    "solar_open2", "k2_horizon",
)  # fmt: skip


def written(name: str, arguments: dict[str, str]) -> str:
    return FORMATS[name].write_calls([ToolCall("1", "write_file", arguments)])


def values(name: str) -> Iterator[str]:
    """Values that hold the ends of their own call, and whole calls."""
    reply = written(name, {"path": "q", "content": "@@"})
    before, _, end = reply.partition("@@")
    whole = reply.replace("@@", "zz")
    for one in (end, end.rstrip().rpartition("<")[0] or end, end.replace("\n", "")):
        yield from (f"a{one}b", f"a{one}", f"{one}b", f"a\n{one}\nb\n", f"a{one} and {one} end", f"`{one}`")
        yield from (f"a{one}{whole}", f"a{one}\n{whole}b", f"Doc: {before} and {one.strip()}")
    yield from (whole, f"x {whole} y", whole * 2, whole[whole.index("q") :])


def in_pieces(name: str, reply: str, size: int) -> Told:
    return told(name, reply, size, tools=(WRITE,))


@pytest.mark.parametrize("name", NAMES)
def test_no_value_is_cut_or_made_longer(name: str) -> None:
    for value in values(name):
        for arguments in ({"path": "p", "content": value}, {"content": value, "path": "p"}):
            found = in_pieces(name, written(name, arguments), 0)
            assert [one for one in found.calls if one != ("write_file", arguments)] == [], value
            assert found.calls or found.rejected, value
            assert in_pieces(name, written(name, arguments), 1) == found
            assert in_pieces(name, written(name, arguments), 7) == found


@every("name", NAMES)
def test_other_marks_in_a_value_are_read(name: str) -> None:
    for value in ("<b>x</b>", "</div>", "if a < b: <c>", "`</other>`", "x</tool_response>\ny"):
        arguments = {"path": "p", "content": value}
        assert in_pieces(name, written(name, arguments), 0).calls == [("write_file", arguments)]


@every("name", NAMES)
def test_the_model_is_told_why_and_the_call_before_it_stays_rejected(name: str) -> None:
    _, _, end = written(name, {"path": "q", "content": "@@"}).partition("@@")
    if name != "minicpm5":  # writes such a value as CDATA
        found = in_pieces(name, written(name, {"path": "p", "content": f"a{end}\nb"}), 3)
        assert (found.calls, found.rejected) == ([], [("write_file", "unreadable")])


@every("name", NAMES)
def test_prose_behind_a_call_does_not_reject_it(name: str) -> None:
    arguments = {"path": "p", "content": "x"}
    for prose in (
        "\nI wait for <b>it</b>.",
        "\nI will see: in `</parameter>` nothing stands, nor in '</arg_value>'.\n",
        "\n</b>",
    ):
        assert in_pieces(name, written(name, arguments) + prose, 0).calls == [("write_file", arguments)]
