"""Reads the settings in the Modelfile of a model, from the answer of Ollama's /api/show."""

from __future__ import annotations

import re
from typing import Any

from toolsupport.core import sanitize

LONGEST_SYSTEM = 32_768  # characters
LARGEST_CONTEXT = 16_777_216  # tokens
_NUMBER = re.compile(r"(num_ctx|temperature)[ \t]{1,80}\"?(\d{1,9}(?:\.\d{1,9})?)\"?[ \t\r]{0,80}")


def settings(system: str, parameters: str) -> dict[str, Any]:
    """Return the keys `system` (text), `num_ctx` (tokens) and `temperature` (0 to 2), each only if set.

    `parameters` has one parameter per line, its name and its value separated by spaces.
    """
    found: dict[str, Any] = {"system": sanitize.text(system[:LONGEST_SYSTEM])} if system.strip() else {}
    for line in parameters[:65_536].split("\n"):
        match = _NUMBER.fullmatch(line.strip(" \t"))
        if match is None:
            continue
        value = float(match[2])
        if match[1] == "num_ctx" and value.is_integer() and 0 < value <= LARGEST_CONTEXT:
            found["num_ctx"] = int(value)
        elif match[1] == "temperature" and value <= 2:
            found["temperature"] = value
    return found
