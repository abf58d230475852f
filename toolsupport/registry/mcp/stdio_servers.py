"""Reads the MCP servers that are started here from the settings file of the site."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from toolsupport.core import redaction, strict_json
from toolsupport.core.errors import ConfigError
from toolsupport.core.remote_tools import SERVER_NAME

VARIABLE = "TOOLSUPPORT_MCP_STDIO"
KEYS = {"command", "args", "env", "cwd"}


@dataclass(frozen=True, slots=True)
class StdioCommand:
    """How a server is started. `env` names the variables of the site that it gets besides the usual ones."""

    command: str
    args: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    cwd: str = ""

    def variables(self, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
        """Its environment variables with their values. Raises ConfigError if one is not set."""
        missing = [name for name in self.env if name not in environ]
        if missing:
            raise ConfigError(f"It needs {missing[0]}, which is not set in the environment of the site.")
        values = {name: environ[name] for name in self.env}
        redaction.add_secrets(*values.values())
        return values


def commands() -> dict[str, StdioCommand]:
    """Return all servers of the file by name, {} without a file. Raises ConfigError with the error."""
    path = settings.ENV[VARIABLE]
    if not path:
        return {}
    try:
        return _read(path, Path(path).stat().st_mtime_ns)
    except OSError as error:
        raise ConfigError(f"{VARIABLE}: {path} cannot be read ({error.strerror}).") from error


@lru_cache(maxsize=4)
def _read(path: str, changed: int) -> dict[str, StdioCommand]:
    """Parse the file. `changed` is its modification time: a newer file is read again."""
    try:
        given = strict_json.read(Path(path).read_bytes())
    except ValueError as error:
        raise ConfigError(f"{VARIABLE}: {path} is not JSON: {error}.") from error
    named = given.get("mcpServers") if isinstance(given, dict) else None
    if not isinstance(named, dict):
        raise ConfigError(f'{VARIABLE}: {path} should read {{"mcpServers": {{"name": {{"command": "…"}}}}}}.')
    return {name: _command(name, entry) for name, entry in named.items()}


def _command(name: str, entry: Any) -> StdioCommand:
    about = f"{VARIABLE}: the server {name!r}"
    if not SERVER_NAME.fullmatch(name) or "__" in name:
        raise ConfigError(f"{about} needs a name of up to 32 letters, digits, - and single _.")
    if not isinstance(entry, dict) or entry.keys() - KEYS:
        raise ConfigError(f"{about} may have only {', '.join(sorted(KEYS))}.")
    texts = [entry.get("command", ""), entry.get("cwd", "")]
    lists = [entry.get("args", []), entry.get("env", [])]
    if not all(isinstance(one, str) for one in texts) or not texts[0]:
        raise ConfigError(f"{about} needs a command, as text.")
    if not all(isinstance(many, list) and all(isinstance(one, str) for one in many) for many in lists):
        raise ConfigError(f"{about}: args and env are lists of texts; env names variables, it does not set them.")
    return StdioCommand(texts[0], tuple(lists[0]), tuple(lists[1]), texts[1])
