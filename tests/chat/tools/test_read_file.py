"""The tool read_file: the text as it stands, cut with a note, or a refusal a model can act on (T3)."""

from __future__ import annotations

import random
import time
from dataclasses import replace

import pytest

from chat.tools.read_file import run
from chat.tools.tool import ToolContext
from tests.processor_time import must_cost_at_most
from toolsupport.core.errors import NotFound, ToolError

pytestmark = pytest.mark.asyncio


async def test_the_content_as_it_stands(context: ToolContext) -> None:
    context.workspace.write("a/config.json", [b'{\r\n  "version": "2.4.1"\n}'])
    result = await run(context, {"path": "/a/config.json"})
    assert (result.content, result.is_error) == ('{\r\n  "version": "2.4.1"\n}', False)


async def test_a_long_file_is_cut_and_its_size_named(context: ToolContext) -> None:
    context.workspace.write("long.txt", [b"x" * 1024] * 300)
    content = (await run(context, {"path": "long.txt"})).content
    assert content.startswith("x" * 256 * 1024 + "\n\n[Cut here: these are the first 256 KiB of 300 KiB.]")
    small = replace(context, text_bytes=10)
    assert (await run(small, {"path": "long.txt"})).content.startswith("x" * 10 + "\n\n[Cut")


async def test_a_binary_file_is_described(context: ToolContext) -> None:
    context.workspace.write("image.png", [b"\x89PNG\r\n\x1a\n\0\0\0"])
    assert "binary file of 11 bytes" in (await run(context, {"path": "image.png"})).content


async def test_a_missing_file_comes_with_the_names_that_are_close(context: ToolContext) -> None:
    for path in ("config.json", "other/x"):
        context.workspace.write(path, [b""])
    with pytest.raises(NotFound, match=r"'confg.json' does not exist\. Did you mean 'config\.json'\?"):
        await run(context, {"path": "confg.json"})
    with pytest.raises(NotFound, match=r"'src/config.json' does not exist\. Did you mean 'config\.json'\?"):
        await run(context, {"path": "src/config.json"})
    with pytest.raises(NotFound, match=r"'zzz' does not exist\.$"):
        await run(context, {"path": "zzz"})


# S1: 400 such names took 1.2 s of processor time.
async def test_names_that_are_costly_to_compare_are_not_compared(context: ToolContext) -> None:
    chance = random.Random(3)
    names = ["".join(chance.sample("ab" * 95, 190)) for _ in range(401)]
    for name in names[1:]:
        context.workspace.write(name, [b""])
    with must_cost_at_most(0.3, time.process_time), pytest.raises(NotFound):
        await run(context, {"path": names[0]})


@pytest.mark.parametrize("arguments", [{}, {"path": ""}, {"path": " "}, {"path": 3}, {"path": None}, {"path": ["a"]}])
async def test_arguments_that_name_no_file(context: ToolContext, arguments: dict[str, object]) -> None:
    with pytest.raises(ToolError, match="path"):
        await run(context, arguments)


async def test_a_directory_is_no_file(context: ToolContext) -> None:
    context.workspace.write("src/app.py", [b""])
    with pytest.raises(ToolError, match="is a directory"):
        await run(context, {"path": "src"})
