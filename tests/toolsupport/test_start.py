"""A site that starts loads only what every site needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# Each takes several MiB in every process, and most sites never need it.
LARGE = {"bm25s", "numpy", "duckdb", "sqlglot", "psycopg", "mcp", "mcp_types"}
LOADED = f"import sys, toolsupport.config.asgi; print(*sorted({LARGE!r} & set(sys.modules)))"


def test_large_libraries_wait_until_they_are_needed(tmp_path: Path):
    environment = {**os.environ, "TOOLSUPPORT_DATA_DIR": str(tmp_path), "DATABASE_URL": ""}
    ran = subprocess.run([sys.executable, "-c", LOADED], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []
