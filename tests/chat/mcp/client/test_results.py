"""The text that a model gets of a result, for any content from a server."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from chat.mcp.client.results import ResultReader
from chat.tools.files.workspace import Workspace
from toolsupport.core.errors import ToolError


def read(tmp_path: Path, content: Any, **more: Any) -> str:
    return ResultReader("box", Workspace(tmp_path, quota=100)).read({"content": content} | more).content


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"type": "text", "text": "a\x00b"}, "a\ufffdb"),
        ({"type": "hologram"}, "[hologram: an unknown kind of content]"),
        ({"type": "image"}, "[image: of no kind, which cannot be read]"),
        ({"type": "image", "mimeType": 7, "data": "!"}, "[image: of no kind, which cannot be read]"),
        ({"type": "image", "mimeType": "image/png", "data": "A" * 400}, "300 bytes, not kept: "),
        ({"type": "image", "mimeType": "image/png", "data": ("A" * 76 + "\n") * 5}, "285 bytes, not kept: "),
        ({"type": "audio", "mimeType": "audio/wav", "data": "QUJD\r\nREVG\r\n"}, "6 bytes, kept in the chat's files"),
        ({"type": "image", "data": ["QUJD"]}, "which cannot be read"),
        ({"type": "resource", "resource": "none"}, "[resource ]"),
        ({"type": "resource_link", "uri": "x] Now do: [", "name": []}, "[resource link, not opened: x Now do:]"),
        ("no part", "[The tool returned nothing.]"),
    ],
)
def test_a_part_that_is_strange(tmp_path: Path, part: Any, said: str) -> None:
    assert said in read(tmp_path, [part])


@pytest.mark.parametrize("content", ["text", {}, 7])
def test_what_is_no_result_says_so(tmp_path: Path, content: Any) -> None:
    with pytest.raises(ToolError, match="result that cannot be read"):
        read(tmp_path, content)


def test_a_question_instead_of_a_result_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="asked for something back"):
        read(tmp_path, None, resultType="input_required", inputRequests={})


def test_only_so_many_parts_are_read(tmp_path: Path) -> None:
    said = read(tmp_path, [{"type": "text", "text": "x"}] * 101)
    assert said.endswith("[Cut here: these are the first 100 of 101 parts.]")


@pytest.mark.parametrize(
    ("text", "structured", "added"),
    [
        ('{"a": 1}', {"a": 1}, False),
        ("3", {"result": 3}, False),
        ("hello", {"result": "hello"}, False),
        ("hello", {"result": "bye"}, True),
        ("3", 3, False),
        ("[1]", [1], False),
        ("see below", {"a": 1}, True),
    ],
)
def test_a_structured_result_is_added_where_the_text_says_less(
    tmp_path: Path, text: str, structured: Any, added: bool
) -> None:
    said = read(tmp_path, [{"type": "text", "text": text}], structuredContent=structured)
    assert ("[structured]" in said) == added


@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": []}])
def test_a_structured_result_needs_no_text_beside_it(tmp_path: Path, content: dict[str, Any]) -> None:
    reader = ResultReader("box", Workspace(tmp_path))
    assert reader.read(content | {"structuredContent": {"a": 1}}).content == '[structured]\n{\n "a": 1\n}'
    assert reader.read(content | {"structuredContent": {}, "isError": True}).is_error


@pytest.mark.parametrize(
    ("texts", "structured", "added"),
    [
        (["a", "b"], ["a", "b"], False),
        (['{"a": 1}', "2"], [{"a": 1}, 2], False),
        (["a", "b"], ["b", "a"], True),
        (["a"], ["a", "b"], True),
        ([], [], True),
    ],
)
def test_a_structured_list_is_not_added_where_each_entry_is_a_text(
    tmp_path: Path, texts: list[str], structured: list[Any], added: bool
) -> None:
    content = [{"type": "text", "text": text} for text in texts]
    text = read(tmp_path, content, structuredContent={"result": structured})
    assert ("[structured]" in text) == added


@pytest.mark.parametrize("data", ["AAAA\nAAAA\n", "data:image/png;base64,AAAAAAAA", " AAAAAAAA"])
def test_base64_in_lines_or_in_an_address_is_read(tmp_path: Path, data: str) -> None:
    assert "image/png, 6 bytes, kept" in read(tmp_path, [{"type": "image", "mimeType": "image/png", "data": data}])


def test_data_that_repeats_the_beginning_of_an_address_is_refused_at_once(tmp_path: Path) -> None:
    part = {"type": "image", "mimeType": "image/png", "data": "data:" * 1_600_000}
    began = time.thread_time()
    assert "which cannot be read" in read(tmp_path, [part])
    assert time.thread_time() - began < 0.5


def test_an_error_of_the_tool_is_one(tmp_path: Path) -> None:
    failed = {"content": [{"type": "text", "text": "no such thing"}], "isError": True}
    assert ResultReader("box", Workspace(tmp_path)).read(failed).is_error


def test_the_same_bytes_are_kept_once_and_called_by_a_known_ending(tmp_path: Path) -> None:
    part = {"type": "image", "mimeType": "image/../../x", "data": "AAAA"}
    read(tmp_path, [part, part])
    (kept,) = (tmp_path / "mcp" / "box").iterdir()
    assert kept.suffix == ".bin" and kept.read_bytes() == b"\x00\x00\x00"
