"""What the site does fits what it says of itself to machines."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.serving import ADMIN, ROOT, serving

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


@pytest.mark.clients
def test_nothing_asked_at_random_breaks_the_description(tmp_path: Path) -> None:  # G3
    with serving(tmp_path, TOOLSUPPORT_KEY_REQUESTS="1000000") as site:
        key = site.manage("create_api_key", ADMIN[0]).strip()
        command = [str(ROOT / ".venv-clients/bin/schemathesis"), "run", f"{site.url}/api/openapi.json"]
        options = ["--max-examples", "50", "--phases", "fuzzing", "--checks", CHECKS]
        header = ["--header", f"Authorization: Bearer {key}"]
        ran = subprocess.run([*command, *options, *header], capture_output=True, text=True, cwd=tmp_path, timeout=300)
        assert ran.returncode == 0, ran.stdout[-3000:]
