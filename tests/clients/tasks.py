"""Lets a program of others do the task of the agents, with many models in one process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.agents.cells import TASK, prepare, unfinished
from tests.serving import ROOT, Site

ENVIRONMENT = ROOT / ".venv-clients"
PROGRAMS = Path(__file__).parent / "programs"
CALLS = ["list", "read", "edit", "run"]
PATIENCE = 600


def faults(site: Site, key: str, program: str, models: Sequence[str], folder: Path) -> dict[str, str]:
    """What went wrong with each model; "" if the task was finished with one call of each tool."""
    for model in models:
        prepare(folder / model)
    script = ENVIRONMENT / f"node/task_{program}.mjs"
    command = ["node", script] if script.exists() else [ENVIRONMENT / "bin/python", PROGRAMS / f"task_{program}.py"]
    words = [*map(str, command), f"{site.url}/v1", key, str(folder), TASK, *models]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    assert ran.returncode == 0, ran.stderr[-3000:]
    ended = json.loads(ran.stdout.splitlines()[-1])
    found = {model: unfinished(folder / model) for model in models}
    return {
        model: found[model] or ("" if ended[model][0] == CALLS else f"other calls: {ended[model]}") for model in models
    }
