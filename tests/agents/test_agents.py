"""Agents of others finish a task through the gateway: they list, read, edit and run, whatever the model's calls are."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.serving import ADMIN, ROOT, serving

pytestmark = pytest.mark.agents
PROGRAMS = ROOT / ".venv-agents/node_modules/.bin"
PATIENCE = 240  # seconds for one task: each agent asks for every step, and starts slowly
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
# The model, and what a person decided about it.
MODELS = {
    "native": ("sim-parallel-less", {"tools": True}),
    "text": ("sim-qwen3-coder-xml", {"format": "qwen3_coder_xml"}),
    "refusing": ("sim-hermes", {"tools": True, "format": "hermes"}),
}
KNOWN = """
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import overrides
for name, values in {models}.values():
    profile = ModelProfile.objects.get(name=name + ":latest")
    for capability, value in values.items():
        overrides.add(overrides.NewOverride(profile.pk, capability, value, reason="For this test."))
"""


@dataclass(frozen=True)
class Gateway:
    """The address and a key of the site."""

    url: str
    key: str


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    assert PROGRAMS.is_dir(), "`make agents` installs the agents"
    with serving(tmp_path_factory.mktemp("site")) as site:
        key = site.manage("create_api_key", ADMIN[0]).strip()
        headers = {"Authorization": f"Bearer {key}"}
        while "sim-qwen3-coder-xml:" not in httpx.get(f"{site.url}/v1/models", headers=headers).text:
            pass  # the site lists the models of its servers after its start
        site.manage("shell", "--no-imports", "-c", KNOWN.format(models=MODELS))
        yield Gateway(site.url, key)


def codex(gateway: Gateway, model: str, home: Path) -> tuple[list[str], dict[str, str]]:
    """The command and its environment: Codex speaks the Responses API only."""
    (home / "config.toml").write_text(
        'model_provider = "toolsupport"\n[model_providers.toolsupport]\nname = "toolsupport"\n'
        f'base_url = "{gateway.url}/v1"\nenv_key = "TOOLSUPPORT_KEY"\nwire_api = "responses"\n'
    )
    flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", model]
    return ["codex", "exec", *flags, TASK], {"CODEX_HOME": str(home), "TOOLSUPPORT_KEY": gateway.key}


def claude_code(gateway: Gateway, model: str, home: Path) -> tuple[list[str], dict[str, str]]:
    """The command and its environment: Claude Code speaks the Messages API only."""
    environment = {
        "ANTHROPIC_BASE_URL": gateway.url,
        "ANTHROPIC_API_KEY": gateway.key,
        "ANTHROPIC_MODEL": model,
        "ANTHROPIC_SMALL_FAST_MODEL": model,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "IS_SANDBOX": "1",
    }
    return ["claude", "-p", "--dangerously-skip-permissions", TASK], environment


def opencode(gateway: Gateway, model: str, home: Path) -> tuple[list[str], dict[str, str]]:
    """The command and its environment: OpenCode uses chat completions. It quotes a message that is one word for it."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{gateway.url}/v1", "apiKey": gateway.key},
        "models": {model: {"name": model}},
    }
    settings = {"permission": "allow", "provider": {"toolsupport": provider}, "model": f"toolsupport/{model}"}
    return ["opencode", "run", *TASK.split(" ")], {"OPENCODE_CONFIG_CONTENT": json.dumps(settings)}


AGENTS: dict[str, Callable[[Gateway, str, Path], tuple[list[str], dict[str, str]]]] = {
    "codex": codex,
    "claude_code": claude_code,
    "opencode": opencode,
}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_finishes_its_task(gateway: Gateway, agent: str, kind: str, tmp_path: Path) -> None:  # G10
    work, home = tmp_path / "work", tmp_path / "home"
    work.mkdir()
    home.mkdir()
    (work / "config.json").write_text(BEFORE)
    (work / "check.py").write_text(CHECK)
    model, _ = MODELS[kind]
    (program, *words), settings = AGENTS[agent](gateway, model, home)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "NO_PROXY": "127.0.0.1", **settings}
    ran = subprocess.run(
        [str(PROGRAMS / program), *words],
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert (work / "config.json").read_text() == BEFORE.replace("1.0", "2.0"), ran.stdout[-3000:]
    assert (work / "checked").exists() and "python3 check.py" in ran.stdout, ran.stdout[-3000:]
