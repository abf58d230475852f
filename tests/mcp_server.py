"""An MCP server over pipes that tells times (`time`) or keeps facts in a file (`memory FILE`).

Its tools have the names and the parameters of the well-known servers for these, so that models read what they read
there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}


def taking(**parameters: Any) -> dict[str, Any]:
    return {"type": "object", "properties": parameters, "required": [*parameters]}


def objects(**fields: Any) -> dict[str, Any]:
    return {"type": "array", "items": taking(**fields)}


def moment(when: datetime) -> dict[str, Any]:
    return {"timezone": str(when.tzinfo), "datetime": when.isoformat(timespec="seconds")}


def current(timezone: str) -> Any:
    return moment(datetime.now(ZoneInfo(timezone)))


def converted(source_timezone: str, time: str, target_timezone: str) -> Any:
    hours, minutes = map(int, time.split(":"))
    source = datetime.now(ZoneInfo(source_timezone)).replace(hour=hours, minute=minutes)
    return {"source": moment(source), "target": moment(source.astimezone(ZoneInfo(target_timezone)))}


def graph() -> list[Any]:
    file = Path(sys.argv[2])
    return list(json.loads(file.read_text())) if file.exists() else []


def kept(entities: list[Any]) -> Any:
    known = graph()
    new = [entity for entity in entities if entity["name"] not in [one["name"] for one in known]]
    Path(sys.argv[2]).write_text(json.dumps([*known, *new]))
    return new


ENTITY = {"name": TEXT, "entityType": TEXT, "observations": TEXTS}
# Set → name → what it says of itself, what it takes, what it does.
SETS: dict[str, dict[str, tuple[str, dict[str, Any], Callable[..., Any]]]] = {
    "time": {
        "get_current_time": ("Get the current time in a time zone", taking(timezone=TEXT), current),
        "convert_time": (
            "Convert a time between time zones",
            taking(source_timezone=TEXT, time=TEXT, target_timezone=TEXT),
            converted,
        ),
    },
    "memory": {
        "create_entities": ("Create new entities in the knowledge graph", taking(entities=objects(**ENTITY)), kept),
        "read_graph": ("Read the whole knowledge graph", taking(), graph),
        "delete_entities": ("Delete entities from the knowledge graph", taking(entityNames=TEXTS), lambda **_: "?"),
        "search_nodes": ("Search for nodes in the knowledge graph", taking(query=TEXT), lambda **_: "?"),
    },
}


def answer(method: str, params: Any) -> Any:
    """The result of a request; None where it is not known."""
    tools = SETS[sys.argv[1]]
    if method == "initialize":
        info = {"name": sys.argv[1], "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        listed = tools.items()
        return {
            "tools": [{"name": name, "description": says, "inputSchema": takes} for name, (says, takes, _) in listed]
        }
    if method == "tools/call":
        result = tools[params["name"]][2](**params["arguments"])
        return {"content": [{"type": "text", "text": json.dumps(result)}]}
    return None


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = answer(message["method"], message.get("params"))
        error = {"error": {"code": -32601, "message": "not known"}}
        print(
            json.dumps({"jsonrpc": "2.0", "id": message["id"], **({"result": result} if result else error)}), flush=True
        )


if __name__ == "__main__":
    main()
