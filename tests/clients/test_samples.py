"""Each sample of the page "Use it from your code" runs as it stands there, with a model that calls in text."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.samples import samples
from tests.serving import ROOT, serving

pytestmark = pytest.mark.clients
ENVIRONMENT = ROOT / ".venv-clients"
MODEL = "Simulator/sim-qwen3-coder-xml:latest"
PYTHON, NODE, SHELL = [str(ENVIRONMENT / "bin/python"), "-c"], ["node", "--input-type=module", "-e"], ["bash", "-ec"]
PROGRAMS = {
    "curl": SHELL,
    "Python, openai: chat completions": PYTHON,
    "Python, openai: Responses": PYTHON,
    "Python, anthropic": PYTHON,
    "LangChain": PYTHON,
    "Pydantic AI": PYTHON,
    "AI SDK": NODE,
    "llm": SHELL,
}
# Those of the agents are run in tests/agents.
AGENTS = {"Codex", "Claude Code", "OpenCode"}
PATIENCE = 120
KNOWN = """
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import overrides
profile = ModelProfile.objects.get(name="sim-qwen3-coder-xml:latest")
overrides.add(overrides.NewOverride(profile.pk, "format", "qwen3_coder_xml", reason="It writes so."))
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[str]]]:
    with serving(tmp_path_factory.mktemp("site")) as site:
        site.manage("refresh_models")
        site.manage("shell", "--no-imports", "-c", KNOWN)
        yield samples(site, MODEL)


def test_each_sample_has_a_test(shown: dict[str, list[str]]) -> None:
    assert shown.keys() == PROGRAMS.keys() | AGENTS


@pytest.mark.parametrize("title", PROGRAMS)
def test_a_sample_runs(shown: dict[str, list[str]], title: str, tmp_path: Path) -> None:  # G2
    [code] = shown[title]
    path = f"{ENVIRONMENT / 'bin'}:{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(tmp_path), "LLM_USER_PATH": str(tmp_path / "llm"), "NO_PROXY": "127.0.0.1"}
    ran = subprocess.run(
        [*PROGRAMS[title], code],
        cwd=ENVIRONMENT / "node" if PROGRAMS[title] is NODE else tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    # curl only shows the call; the others run it.
    wanted = r'"arguments": "{\"city\":\"Paris\"}"' if title == "curl" else "Sunny in Paris, 21 °C"
    assert wanted in ran.stdout
