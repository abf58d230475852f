"""Detects which models can call tools, and talks to each model in a way that makes tool calls work."""

import sys

__version__ = "0.2.0"

# httpx loads a command line with its libraries (3 MiB) where they are installed; without it, httpx is the same.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
