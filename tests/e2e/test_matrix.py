"""Usual first requests for tools, with models of four kinds, from the message to the answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import answered, ask, new_chat, photograph
from tests.installed import needs
from tests.serving import Site, switched_on

pytestmark = needs("bwrap")

# A shell instead of tools for files, by day; native tools and calls in two kinds of text, by night.
MODELS = [
    pytest.param("sim-shell", marks=pytest.mark.e2e),
    *(pytest.param(name, marks=pytest.mark.nightly) for name in ("sim-honest", "sim-hermes", "sim-mistral-args")),
]
TESTS = "import unittest\n\nclass Sums(unittest.TestCase):\n    def test_one(self):\n        assert 1 + 1 == 2\n"
FILES = {"config.json": '{"version": "7.1.3"}', "data.csv": "a,b\n1,20\n2,22\n", "notes.md": "# Notes\n"}


@dataclass(frozen=True)
class Task:
    """`says` stands in the answer; `asks` are the questions on the way."""

    words: str
    says: str
    asks: tuple[str, ...] = ()


TASKS = (
    Task("Read config.json", "7.1.3"),
    Task("List this folder", "data.csv"),
    Task("Append a line to notes.md", "notes.md", ("notes.md?",)),
    Task("Sum column b of data.csv with Python", "42", ("Run this Python program?",)),
    Task("Run the tests with bash", "Ran 1 test", ("Run this command?",)),
)


@pytest.fixture(scope="module")
def site(own_site: Site) -> Iterator[Site]:
    """A site that has the tools for code."""
    with switched_on(own_site, "bash", "python_execution") as running:
        yield running


# T1 T3 T6 T9 T11 F3
@pytest.mark.parametrize("model", MODELS)
def test_every_task_comes_to_its_answer(page: Page, site: Site, model: str) -> None:
    site.manage("detect", f"{model}:latest")
    for task in TASKS:
        new_chat(page, f"{model}:latest")
        place = site.directory / "workspaces" / (page.locator("#chat").get_attribute("data-conversation") or "")
        for name, content in {**FILES, "test_sums.py": TESTS}.items():
            (place / name).write_text(content)
        ask(page, task.words)
        for question in task.asks:
            expect(page.locator("[data-question]")).to_contain_text(question)
            page.get_by_role("button", name="once").click()
        answered(page)
        photograph(page, f"matrix-{model}-{task.words.split()[0]}")
        assert set(page.locator(".call").evaluate_all("calls => calls.map(call => call.dataset.status)")) == {"done"}
        expect(page.locator(".message[data-role=assistant] .prose").last).to_contain_text(task.says)
        if task.words.startswith("Append"):
            assert (place / "notes.md").read_text() == "# Notes\na line\n"
