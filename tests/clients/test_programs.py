"""Programs of other projects use the gateway unchanged: a loop of two rounds ends alike in every call format."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real.conftest import ARGUMENTS, CALL, FINAL, HELLO, served
from tests.real.conftest import ENVIRONMENT as MLX
from tests.serving import ADMIN, ROOT, Site, serving

pytestmark = pytest.mark.clients
HERE = Path(__file__).parent
ENVIRONMENT = ROOT / ".venv-clients"
PATIENCE = 300

# Simulated models that write their calls as text → the format in which they do.
LANGUAGES = {
    "sim-hermes": "hermes",
    "sim-mistral": "mistral",
    "sim-mistral-args": "mistral_args",
    "sim-pythonic": "pythonic",
    "sim-llama4": "llama4_pythonic",
    "sim-lfm2": "lfm2_pythonic",
    "sim-olmo3": "olmo3_pythonic",
    "sim-json": "pure_json",
    "sim-llama3-json": "llama3_json",
    "sim-qwen3-coder-xml": "qwen3_coder_xml",
    "sim-broken-json": "hermes",
}
NATIVE = ("sim-honest", "sim-parallel-less", "sim-thinks")
MODELS = (*NATIVE, *LANGUAGES)
# Somebody believes that it takes native tools: its server refuses them, and it is asked as text.
REFUSES = "sim-hermes:latest"
PROGRAMS = {
    "openai": (str(ENVIRONMENT / "bin/python"), str(HERE / "programs/openai_ways.py")),
    "responses": (str(ENVIRONMENT / "bin/python"), str(HERE / "programs/responses_ways.py")),
    "anthropic": (str(ENVIRONMENT / "bin/python"), str(HERE / "programs/anthropic_ways.py")),
    "langchain": (str(ENVIRONMENT / "bin/python"), str(HERE / "programs/langchain_ways.py")),
    "llm": (str(ENVIRONMENT / "bin/python"), str(HERE / "programs/llm_ways.py")),
    "ai_sdk": ("node", str(ENVIRONMENT / "node/ai_sdk_ways.mjs")),
    "openai_node": ("node", str(ENVIRONMENT / "node/openai_node_ways.mjs")),
}
KNOWN = """
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import overrides
for name, format in {languages}.items():
    profile = ModelProfile.objects.get(name=name + ":latest")
    overrides.add(overrides.NewOverride(profile.pk, "format", format, reason="It writes so."))
for name in {native}:
    profile = ModelProfile.objects.get(name=name)
    overrides.add(overrides.NewOverride(profile.pk, "tools", True, reason="A person believes so."))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serving(tmp_path_factory.mktemp("site")) as running:
        running.manage("refresh_models")
        running.manage("shell", "--no-imports", "-c", KNOWN.format(languages=LANGUAGES, native=[REFUSES]))
        yield running


@pytest.fixture(scope="module")
def key(site: Site) -> str:
    return site.manage("create_api_key", ADMIN[0]).strip()


def loops(site: Site, key: str, program: str, *models: str) -> dict[str, dict[str, Any]]:
    """What a program told of its loops: way → model → calls with the text at the end."""
    command = [*PROGRAMS[program], f"{site.url}/v1", key, *models]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert ran.returncode == 0, ran.stderr[-3000:]
    told: dict[str, dict[str, Any]] = json.loads(ran.stdout.splitlines()[-1])
    assert told and all(set(ended) == set(models) for ended in told.values())
    return told


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_loop_ends_alike_in_every_language(site: Site, key: str, program: str) -> None:  # G2
    ways = loops(site, key, program, *MODELS)
    honest = [[["list_directory", {"path": "."}]], "This folder holds 1 entry:\n\n- `config.json`"]
    otherwise = {(way, name): told for way, models in ways.items() for name, told in models.items() if told != honest}
    assert otherwise == {}


@pytest.mark.skipif(not (MLX / "bin/python").exists(), reason="`make real` installs mlx-lm")
def test_a_loop_ends_alike_with_a_server_of_others(tmp_path: Path) -> None:  # G2
    (tmp_path / "site").mkdir()
    with (
        served(MLX / "bin/python", tmp_path, HELLO, CALL, FINAL) as real,
        serving(tmp_path / "site", TOOLSUPPORT_SERVERS=f"mlx=openai+{real.url}") as site,
    ):
        site.manage("shell", "--no-imports", "-c", KNOWN.format(languages={}, native=[real.model]))
        key = site.manage("create_api_key", ADMIN[0]).strip()
        ended = [[["list_directory", ARGUMENTS]], FINAL]
        for program in PROGRAMS:
            ways = loops(site, key, program, real.model)
            assert {way: told[real.model] for way, told in ways.items()} == dict.fromkeys(ways, ended), program
