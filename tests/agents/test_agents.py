"""Agents and programs of others finish a task through the gateway: they list, read, edit and run (docs/agents.md)."""

from __future__ import annotations

import json
import os
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.agents import cells
from tests.clients.tasks import faults
from tests.serving import ADMIN, ROOT, Site, serving

pytestmark = pytest.mark.agents
INSTALLED = ROOT / ".venv-agents/node_modules/.bin"
PATIENCE = 240  # seconds for one task: each agent asks for every step, and starts slowly
Told = Callable[[str], dict[str, str]]


@dataclass(frozen=True)
class Gateway:
    """The address and a key of the site."""

    url: str
    key: str


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serving(tmp_path_factory.mktemp("site")) as running:
        running.manage("refresh_models")
        running.manage("shell", "--no-imports", "-c", cells.KNOWN)
        yield running


@pytest.fixture(scope="module")
def gateway(site: Site) -> Gateway:
    assert INSTALLED.is_dir(), "`make agents` installs the agents"
    return Gateway(site.url, site.manage("create_api_key", ADMIN[0]).strip())


@pytest.fixture(scope="module")
def told(
    request: pytest.FixtureRequest, site: Site, gateway: Gateway, tmp_path_factory: pytest.TempPathFactory
) -> Told:
    """What went wrong with each model that a program is to be run with: one process for all of them."""
    chosen: dict[str, list[str]] = defaultdict(list)
    for item in request.session.items:
        if isinstance(item, pytest.Function) and item.originalname == test_a_program_finishes_its_task.__name__:
            given = item.callspec.params
            chosen[str(given["program"])].append(str(given["model"]))
    return cache(lambda program: faults(site, gateway.key, program, chosen[program], tmp_path_factory.mktemp(program)))


def codex(gateway: Gateway, model: str, home: Path) -> tuple[list[str], dict[str, str]]:
    """The command and its environment: Codex speaks the Responses API only."""
    (home / "config.toml").write_text(
        'model_provider = "toolsupport"\n[model_providers.toolsupport]\nname = "toolsupport"\n'
        f'base_url = "{gateway.url}/v1"\nenv_key = "TOOLSUPPORT_KEY"\nwire_api = "responses"\n'
    )
    flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", model]
    return ["codex", "exec", *flags, cells.TASK], {"CODEX_HOME": str(home), "TOOLSUPPORT_KEY": gateway.key}


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
    return ["claude", "-p", "--dangerously-skip-permissions", cells.TASK], environment


def opencode(gateway: Gateway, model: str, home: Path) -> tuple[list[str], dict[str, str]]:
    """The command and its environment: OpenCode uses chat completions. It quotes a message that is one word for it."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{gateway.url}/v1", "apiKey": gateway.key},
        "models": {model: {"name": model}},
    }
    settings = {"permission": "allow", "provider": {"toolsupport": provider}, "model": f"toolsupport/{model}"}
    return ["opencode", "run", *cells.TASK.split(" ")], {"OPENCODE_CONFIG_CONTENT": json.dumps(settings)}


COMMANDS: dict[str, Callable[[Gateway, str, Path], tuple[list[str], dict[str, str]]]] = {
    "codex": codex,
    "claude_code": claude_code,
    "opencode": opencode,
}


@pytest.mark.parametrize("model", cells.DECIDED)
@pytest.mark.parametrize("program", cells.PROGRAMS)
def test_a_program_finishes_its_task(
    told: Told, program: str, model: str, record_property: Callable[[str, object], None]
) -> None:  # G10
    record_property(cells.PROPERTY, (program, model))
    assert told(program)[model] == ""


@pytest.mark.parametrize("model", cells.FEW)
@pytest.mark.parametrize("agent", cells.AGENTS)
def test_an_agent_finishes_its_task(
    gateway: Gateway, agent: str, model: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:  # G10
    record_property(cells.PROPERTY, (agent, model))
    work, home = cells.prepare(tmp_path / "work"), tmp_path / "home"
    home.mkdir()
    (program, *words), settings = COMMANDS[agent](gateway, model, home)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "NO_PROXY": "127.0.0.1", **settings}
    ran = subprocess.run(
        [str(INSTALLED / program), *words],
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert cells.unfinished(work) == "", ran.stdout[-3000:]
    assert "python3 check.py" in ran.stdout, ran.stdout[-3000:]
