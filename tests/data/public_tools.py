"""Reads the tools of public servers with the questions that they answer."""

from __future__ import annotations

from pathlib import Path

from toolsupport.core.types import ToolSpec

HERE = Path(__file__).parent


def tools() -> list[ToolSpec]:
    """Each named by its server and itself, as `github.create_issue`."""
    found = []
    for line in (HERE / "public_tools.txt").read_text().splitlines():
        server, name, parameters, description = line.split("\t")
        properties = {parameter: {"type": "string"} for parameter in parameters.split(",") if parameter}
        found.append(ToolSpec(f"{server}.{name}", description, {"type": "object", "properties": properties}))
    return found


def questions() -> list[tuple[str, frozenset[str]]]:
    """What somebody asks, with the tools any of which would do."""
    lines = (line.split("\t") for line in (HERE / "tool_queries.txt").read_text().splitlines())
    return [(query, frozenset(names.split())) for query, names in lines]
