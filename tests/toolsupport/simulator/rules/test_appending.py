"""An addition without a tool for it: read, then written whole."""

from __future__ import annotations

from typing import Any

import pytest

from tests.toolsupport.simulator.quirks.test_honest import OFFERED
from tests.toolsupport.simulator.quirks.test_honest import asked as asked_with_all
from toolsupport.simulator.types import SimulatedCall

WORDS = 'Append "three" to notes.md'
READ = SimulatedCall("read_file", {"path": "notes.md"})
FILES = tuple(tool for tool in OFFERED if tool.name != "bash")


def asked(words: str, *results: str) -> Any:
    return asked_with_all(words, *results, tools=FILES)


# M8
@pytest.mark.parametrize(("before", "gap"), [("one\ntwo\n", ""), ("  one.\n", ""), ("one\ntwo", "\n"), ("", "")])
def test_it_is_read_then_written_with_one_line_more(before: str, gap: str) -> None:
    assert asked(WORDS).calls == (READ,)
    written = SimulatedCall("write_file", {"path": "notes.md", "content": f"{before}{gap}three\n"})
    assert asked(WORDS, before).calls == (written,)
    assert asked(WORDS, before, "Wrote 3 lines to notes.md.").content == "Done: I wrote `notes.md`."


def test_what_cannot_be_read_is_not_written() -> None:
    said = asked(WORDS, "There is no such file: notes.md does not exist.")
    assert not said.calls and "That did not work" in said.content


def test_beside_another_wish_each_has_its_own_result() -> None:
    words = f"{WORDS} and list this folder"
    assert [call.name for call in asked(words).calls] == ["read_file", "list_directory"]
    (write,) = asked(words, "one", "notes.md").calls
    assert write.arguments["content"] == "one\nthree\n"
    last = asked(words, "one", "notes.md", "Wrote it.").content
    assert last.startswith("This folder holds 1 entry") and last.endswith("I wrote `notes.md`.")


def test_a_shell_adds_by_itself() -> None:
    assert [call.name for call in asked_with_all(WORDS).calls] == ["bash"]
