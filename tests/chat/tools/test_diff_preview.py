"""A change that a person allowed replaces what they were shown, and nothing newer."""

from __future__ import annotations

import asyncio
import os
import select
from collections.abc import Callable
from dataclasses import replace

import pytest

from chat.tools import BUILTINS, policy
from chat.tools.diff_preview import NO_FILE, basis_of, difference
from chat.tools.files.workspace import Workspace
from chat.tools.tool import ToolContext
from tests.tables import every
from toolsupport.core.text_diff import TextChange
from toolsupport.core.types import ToolCall
from toolsupport.work_pool.pool import work_pool

pytestmark = pytest.mark.asyncio
CALL = ToolCall("1", "write_file", {"path": "notes.md", "content": "from the model"})


def write(workspace: Workspace) -> None:
    workspace.write("notes.md", [b"newer"])


def delete(workspace: Workspace) -> None:
    workspace.delete("notes.md")


# T3
@pytest.mark.parametrize(("old", "places"), [("aa", "2 times"), ("b", "2 times"), ("c", "does not occur in the file")])
async def test_an_edit_needs_one_place_where_places_overlap_too(context: ToolContext, old: str, places: str) -> None:
    context.workspace.write("notes.md", [b"b aaa b"])
    call = ToolCall("1", "edit_file", {"path": "notes.md", "old": old, "new": "x"})
    outcome = await policy.run(call, context, approved=True)
    assert outcome.status == "failed" and places in outcome.result.content
    assert text_of(context) == b"b aaa b"


@every(
    "before, old, new, after",
    [
        (b"one\r\ntwo\r\n", "one\ntwo", "1\n2", b"1\r\n2\r\n"),
        (b"one\r\ntwo\r\n", "two", "2\n3", b"one\r\n2\r\n3\r\n"),
        (b"one\r\ntwo\r\n", "one\r\ntwo", "1\n2", b"1\r\n2\r\n"),
        (b"one\r\ntwo\r\n", "one\r\n", "", b"two\r\n"),
        # Where both kinds of ends are in a file, or a text has its own, nothing is changed in them.
        (b"one\r\ntwo\n", "two\n", "2\n", b"one\r\n2\n"),
        (b"one\ntwo\n", "two", "2\r\n3", b"one\n2\r\n3\n"),
        (b"one\ntwo", "one\ntwo", "1\n2", b"1\n2"),
        (b"one", "one", "1\n2", b"1\n2"),
    ],
)
async def test_an_edit_takes_the_line_ends_of_the_file(
    context: ToolContext, before: bytes, old: str, new: str, after: bytes
) -> None:
    context.workspace.write("notes.md", [before])
    call = ToolCall("1", "edit_file", {"path": "notes.md", "old": old, "new": new})
    outcome = await policy.run(call, context, approved=True)
    assert (outcome.status, text_of(context)) == ("done", after), outcome.result.content


@every(
    "content, reason",
    [
        (b"text", "Read the file again, and copy"),
        (b"old old", "Give a longer piece"),
        ("alt: Stra\xdfe".encode("latin-1"), "not a text file in UTF-8"),
    ],
)
async def test_an_edit_that_is_impossible_leads_to_one_that_is_not(
    context: ToolContext, content: bytes, reason: str
) -> None:
    context.workspace.write("notes.md", [content])
    call = ToolCall("1", "edit_file", {"path": "notes.md", "old": "old", "new": "new"})
    assert reason in (await policy.run(call, context, approved=True)).result.content


def shown(context: ToolContext) -> ToolContext:
    """The context in which the call runs once it was allowed."""
    preview = BUILTINS["write_file"].preview
    assert preview
    return replace(context, basis=preview(context, CALL.arguments).basis)


def text_of(context: ToolContext) -> bytes:
    return context.workspace.read("notes.md", 100).data


# SAFETY 3.4
@pytest.mark.parametrize("before", [None, b"old"])
async def test_what_did_not_change_is_replaced(context: ToolContext, before: bytes | None) -> None:
    if before is not None:
        context.workspace.write("notes.md", [before])
    outcome = await policy.run(CALL, shown(context), approved=True)
    assert (outcome.status, text_of(context)) == ("done", b"from the model")


@pytest.mark.parametrize("change", [write, delete])
async def test_what_changed_since_is_kept(context: ToolContext, change: Callable[[Workspace], None]) -> None:
    context.workspace.write("notes.md", [b"old"])
    allowed = shown(context)
    change(context.workspace)
    entries = context.workspace.entries()
    outcome = await policy.run(CALL, allowed, approved=True)
    assert outcome.status == "failed" and "changed after" in outcome.result.content
    assert context.workspace.entries() == entries


async def test_a_file_made_since_is_kept(context: ToolContext) -> None:
    allowed = shown(context)
    assert allowed.basis == NO_FILE
    write(context.workspace)
    assert (await policy.run(CALL, allowed, approved=True)).status == "failed"
    assert text_of(context) == b"newer"


async def test_the_model_can_ask_again_over_what_is_there_now(context: ToolContext) -> None:
    allowed = shown(context)
    write(context.workspace)
    await policy.run(CALL, allowed, approved=True)
    assert (await policy.run(CALL, shown(context), approved=True)).status == "done"
    assert text_of(context) == b"from the model"


async def test_without_a_diff_it_replaces_what_is_there(context: ToolContext) -> None:
    write(context.workspace)
    assert (await policy.run(CALL, context, approved=True)).status == "done"


async def test_an_empty_file_is_not_no_file() -> None:
    assert len({basis_of(None), basis_of(""), basis_of("x")}) == 3


# Two files of 240 KiB, whose comparison takes 40 s and more.
NUMBERS = range(70_000)
COSTLY = TextChange("a", "".join(f"{n * n % 127}\n" for n in NUMBERS), "".join(f"{n % 127}\n" for n in NUMBERS))


async def test_a_costly_comparison_comes_as_an_outline() -> None:
    diff = await difference(1, COSTLY)
    assert diff.startswith("--- a\n+++ a\n… Too large to compare line by line: ")


async def test_a_comparison_of_many_lines_is_made_in_a_worker() -> None:
    before = "".join(f"{n}\n" for n in range(3_000))
    after = before.replace("\n7\n", "\nseven\n").replace("\n2900\n", "\n2900\nmore\n")
    assert (await difference(1, TextChange("a", before, after))).splitlines()[2:] == [
        *("@@ -5,7 +5,7 @@", " 4", " 5", " 6", "-7", "+seven", " 8", " 9", " 10"),
        *("@@ -2899,6 +2899,7 @@", " 2898", " 2899", " 2900", "+more", " 2901", " 2902", " 2903"),
    ]


async def test_a_comparison_ends_with_its_turn() -> None:
    comparing = asyncio.create_task(difference(1, COSTLY))
    while not (pids := work_pool().pids()):
        await asyncio.sleep(0)
    handle = os.pidfd_open(pids[0])
    comparing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await comparing
    assert select.select([handle], [], [], 5.0)[0]
    os.close(handle)
