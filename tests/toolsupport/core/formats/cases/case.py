"""One reply of a model, and the expected events."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolsupport.core.types import JSON, ToolSpec


def tool(name: str, /, *required: str, **properties: object) -> ToolSpec:
    """A tool whose parameters are given as name=type, or as name={a schema}."""
    schemas = {key: kind if isinstance(kind, dict) else {"type": kind} for key, kind in properties.items()}
    return ToolSpec(name, f"{name}.", {"type": "object", "properties": schemas, "required": list(required)})


TOOLS = (
    tool("weather", "city", city="string", days="integer", metric="boolean"),
    tool("write_file", "path", path="string", content="string"),
    tool(
        "search",
        query="string",
        limit="integer",
        ratio="number",
        exact="boolean",
        tags={"type": "array", "items": {"type": "string"}},
        filters={"type": "object"},
        note={"type": ["string", "null"]},
    ),
    tool("now"),
    ToolSpec("note", "Takes anything.", {"type": "object", "properties": {}, "required": []}),
    tool("run-sql", statement="string"),
    tool("music.play", track="string"),
    tool("mcp__fs__read_file", "path", path="string"),
    tool("python_execution", "code", code="string"),
)


@dataclass(frozen=True)
class Case:
    """`text` is all that is written outside of calls, exactly; `rejected` holds names, "" where none can be read.

    `mended` None leaves open whether something was repaired; False says that nothing may have been.
    """

    name: str
    reply: str
    calls: list[tuple[str, JSON]] = field(default_factory=list)
    text: str = ""
    rejected: list[str] = field(default_factory=list)
    thinking: str | None = None
    mended: bool | None = None
    tools: tuple[ToolSpec, ...] = TOOLS
    formats: tuple[str, ...] = ()
