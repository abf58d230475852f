"""Writes the outcome of every cell into the table of docs/agents.md."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from tests.agents.cells import AGENTS, FEW, NATIVE, PROGRAMS, REFUSING, TEXT
from tests.serving import ROOT

PAGE = ROOT / "docs/agents.md"
BEGIN, END = "<!-- cells: written by `make agents` -->", "<!-- end of cells -->"
CALLS = {NATIVE: "native", **TEXT, REFUSING: "refused, then hermes"}
# The column → the package whose version stands in it.
PYTHON = {
    "openai": "openai",
    "responses": "openai",
    "openai_agents": "openai-agents",
    "anthropic": "anthropic",
    "langchain": "langchain-openai",
    "pydantic_ai": "pydantic-ai-slim",
    "llm": "llm",
}
NODE = {
    "ai_sdk": ("clients", "ai"),
    "codex": ("agents", "@openai/codex"),
    "claude_code": ("agents", "@anthropic-ai/claude-code"),
    "opencode": ("agents", "opencode-ai"),
}


def table(passed: Mapping[tuple[str, str], bool]) -> str:
    """The table in Markdown: a row for each model, a column for each program."""
    names = (*PROGRAMS, *AGENTS)
    head = ["model", "calls", *(f"{name} {version(name)}" for name in names)]
    rows = [[f"`{model}`", CALLS[model], *(_cell(passed, name, model) for name in names)] for model in CALLS]
    lines = (f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))
    return "\n".join(lines)


def _cell(passed: Mapping[tuple[str, str], bool], name: str, model: str) -> str:
    if name in AGENTS and model not in FEW:
        return ""
    return "finishes" if passed[name, model] else "**fails**"


def version(name: str) -> str:
    """The version that is installed for the tests."""
    if name in PYTHON:
        lock = (ROOT / "tests/clients/requirements.txt").read_text()
        return re.findall(rf"^{PYTHON[name]}==(\S+)", lock, re.M)[0]
    part, package = NODE[name]
    lock = json.loads((ROOT / f"tests/{part}/package-lock.json").read_text())
    return str(lock["packages"][f"node_modules/{package}"]["version"])


def write(passed: Mapping[tuple[str, str], bool]) -> None:
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(passed)}\n\n{END}{after}")
