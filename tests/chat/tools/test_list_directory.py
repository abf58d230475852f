"""The tool list_directory: a plain listing whose paths read_file takes (T3)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chat.tools import read_file
from chat.tools.list_directory import run
from chat.tools.tool import ToolContext
from toolsupport.core.errors import NotFound, ToolError

pytestmark = pytest.mark.asyncio


@pytest.fixture
def filled(context: ToolContext) -> ToolContext:
    for path in ("README.md", "src/app.py", "src/web/page.html", "data.csv"):
        context.workspace.write(path, [b"12345"])
    return context


@pytest.mark.parametrize("arguments", [{"path": "."}, {"path": ""}, {"path": "/"}, {}])
async def test_directories_first_then_files_with_sizes(filled: ToolContext, arguments: dict[str, str]) -> None:
    content = (await run(filled, arguments)).content
    assert content == "src/\ndata.csv (5 bytes)\nREADME.md (5 bytes)"


async def test_everything_below(filled: ToolContext) -> None:
    content = (await run(filled, {"path": "src", "recursive": True})).content
    assert content == "src/web/\nsrc/web/page.html (5 bytes)\nsrc/app.py (5 bytes)"


async def test_the_paths_can_be_read_as_they_are(filled: ToolContext) -> None:
    listed = (await run(filled, {"path": ".", "recursive": True})).content
    files = [line.removesuffix(" (5 bytes)") for line in listed.splitlines() if not line.endswith("/")]
    assert len(files) == 4
    assert {(await read_file.run(filled, {"path": path})).content for path in files} == {"12345"}


async def test_a_long_listing_is_bounded_with_a_note(filled: ToolContext) -> None:
    content = (await run(replace(filled, entries=2), {"path": "."})).content
    assert content.splitlines()[1:] == ["data.csv (5 bytes)", "[Only the first 2 are listed.]"]


async def test_nothing_there(context: ToolContext) -> None:
    assert (await run(context, {"path": "."})).content == "[The directory is empty.]"
    with pytest.raises(NotFound, match="'none' does not exist"):
        await run(context, {"path": "none"})


async def test_links_are_listed_as_what_they_are(filled: ToolContext) -> None:
    (filled.workspace.root / "way out").symlink_to("/")
    content = (await run(filled, {"path": ".", "recursive": True})).content
    assert "way out (a link or something else that cannot be read)" in content.splitlines()


@pytest.mark.parametrize("arguments", [{"path": 1}, {"path": ".", "recursive": "yes"}, {"path": "README.md"}])
async def test_arguments_that_make_no_sense(filled: ToolContext, arguments: dict[str, object]) -> None:
    with pytest.raises(ToolError):
        await run(filled, arguments)
