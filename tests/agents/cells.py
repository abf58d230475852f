"""The cells of the table in docs/agents.md: programs and agents, by models that call in different ways."""

from __future__ import annotations

from pathlib import Path

TASK = (
    "List the files in this folder, then read config.json, then replace '1.0' with '2.0' in config.json, "
    "then run `python3 check.py`"
)
BEFORE = '{"name": "demo", "version": "1.0"}\n'
# It leaves a mark only if the file was edited before it ran.
CHECK = """import json, pathlib
if json.load(open("config.json"))["version"] == "2.0":
    pathlib.Path("checked").write_text("yes")
"""
# Simulated models that write their calls as text → the format they are asked in.
TEXT = {
    "sim-hermes": "hermes",
    "sim-broken-json": "hermes",
    "sim-mistral": "mistral",
    "sim-mistral-args": "mistral_args",
    "sim-pythonic": "pythonic",
    "sim-python": "pythonic",
    "sim-llama4": "llama4_pythonic",
    "sim-lfm2": "lfm2_pythonic",
    "sim-olmo3": "olmo3_pythonic",
    "sim-json": "pure_json",
    "sim-llama3-json": "llama3_json",
    "sim-qwen3-coder-xml": "qwen3_coder_xml",
}
NATIVE, REFUSING = "sim-parallel-less", "sim-thinks-aloud"
# The model, and what a person decided about it. The server of the refusing one refuses every request with tools.
DECIDED: dict[str, dict[str, object]] = {
    NATIVE: {"tools": True},
    **{name: {"format": format} for name, format in TEXT.items()},
    REFUSING: {"tools": True, "format": "hermes"},
}
# Agents are slow: they ask one model of each kind.
FEW = (NATIVE, "sim-qwen3-coder-xml", REFUSING)
PROGRAMS = ("openai", "responses", "openai_agents", "anthropic", "langchain", "pydantic_ai", "llm", "ai_sdk")
AGENTS = ("codex", "claude_code", "opencode")
ALL = {(name, model) for names, models in ((PROGRAMS, DECIDED), (AGENTS, FEW)) for name in names for model in models}
# A test notes its cell under this name, and tests/agents/conftest.py writes the outcome into the table.
PROPERTY = "cell"

_KNOWN = """
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import overrides
for name, values in {decided}.items():
    profile = ModelProfile.objects.get(name=name + ":latest")
    for capability, value in values.items():
        overrides.add(overrides.NewOverride(profile.pk, capability, value, reason="For this test."))
"""
KNOWN = _KNOWN.format(decided=DECIDED)


def prepare(folder: Path) -> Path:
    """A folder with the files of the task."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(BEFORE)
    (folder / "check.py").write_text(CHECK)
    return folder


def unfinished(folder: Path) -> str:
    """What of the task is not done; "" if all is."""
    if (folder / "config.json").read_text() != BEFORE.replace("1.0", "2.0"):
        return "config.json was not edited"
    return "" if (folder / "checked").exists() else "check.py was not run after the edit"
