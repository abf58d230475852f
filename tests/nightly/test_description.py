"""The site behaves as its machine-readable description states, for any request."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.serving import ADMIN, ROOT, serving

SCHEMATHESIS = ROOT / ".venv-described/bin/schemathesis"
HOOKS = {"SCHEMATHESIS_HOOKS": "described_hooks", "PYTHONPATH": str(Path(__file__).parent)}
EXAMPLES = os.environ.get("TOOLSUPPORT_NIGHTLY_EXAMPLES", "200")
# No description can say that a tool which is named has to be one of those on offer.
NOT_CHECKED = "positive_data_acceptance"
PATIENCE = 3600
LIMITS = {"TOOLSUPPORT_KEY_REQUESTS": "100000000", "TOOLSUPPORT_TURNS_PER_PERSON": "100"}


@pytest.mark.nightly
def test_nothing_asked_at_random_breaks_the_description(tmp_path: Path) -> None:  # G3
    with serving(tmp_path, **LIMITS) as site:
        key = site.manage("create_api_key", ADMIN[0]).strip()
        command = [str(SCHEMATHESIS), "run", f"{site.url}/api/openapi.json", "--header", f"Authorization: Bearer {key}"]
        options = ["--max-examples", EXAMPLES, "--checks", "all", "--exclude-checks", NOT_CHECKED]
        ran = subprocess.run(
            [*command, *options, "--continue-on-failure"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **HOOKS},
            timeout=PATIENCE,
        )
        assert ran.returncode == 0, ran.stdout[-5000:]
        print(*re.findall(r"\d+ generated.*", ran.stdout))
        assert "Traceback" not in (tmp_path / "serve.log").read_text()
