"""The samples for agents on the page "Use it from your code" work as they stand there."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.clients.test_samples import AGENTS, KNOWN, MODEL
from tests.samples import samples
from tests.serving import ROOT, serving

pytestmark = pytest.mark.agents
PROGRAMS = ROOT / ".venv-agents"
PATIENCE = 240
# Where the page tells people to write the first block, within their home or project.
FILES = {"Codex": ".codex/config.toml", "OpenCode": "opencode.json"}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[str]]]:
    with serving(tmp_path_factory.mktemp("site")) as site:
        site.manage("refresh_models")
        site.manage("shell", "--no-imports", "-c", KNOWN)
        yield samples(site, MODEL)


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder outside /tmp, which Codex hides from what it runs."""
    folder = PROGRAMS / f"home-{uuid4().hex}"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("title", sorted(AGENTS))
def test_a_sample_runs(shown: dict[str, list[str]], title: str, home: Path) -> None:  # G10
    *files, command = shown[title]
    assert len(files) == (title in FILES)
    (home / "unmistakable.txt").touch()
    for text in files:
        (home / FILES[title]).parent.mkdir(exist_ok=True)
        (home / FILES[title]).write_text(text)
    environment = {
        "PATH": f"{PROGRAMS / 'node_modules/.bin'}:{os.environ['PATH']}",
        "HOME": str(home),
        "NO_PROXY": "127.0.0.1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    ran = subprocess.run(
        ["bash", "-ec", command],
        cwd=home,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert "unmistakable.txt" in ran.stdout
