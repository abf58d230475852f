"""Gives the tools of namespaces one name each, which model servers can take, and finds them again by it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256

from toolsupport.core.types import JSON
from toolsupport.gateway.custom_tools import CALLED
from toolsupport.gateway.parsed_request import NamespacedName
from toolsupport.gateway.request_errors import InvalidField
from toolsupport.gateway.request_schemas import MOST_TOOLS, TOOLS

NAMESPACE = "namespace"
BETWEEN = "__"
UNSENDABLE = re.compile(r"[^a-zA-Z0-9_-]")
LONGEST, HASH_LENGTH = 64, 8


@dataclass(slots=True)
class FlatNames:
    """The flat names of one request; `taken` are names that none of them may have.

    The same function has the same flat name in each request with the same tools, so that a history stays as it was.
    """

    taken: set[str]
    _flat: dict[NamespacedName, str] = field(default_factory=dict)

    def of(self, name: str, namespace: str | None) -> str:
        """Return the flat name of a function; without a namespace it is its own name."""
        if not namespace:
            return name
        key = NamespacedName(namespace, name)
        if key not in self._flat:
            self._flat[key] = self._free(key)
            self.taken.add(self._flat[key])
        return self._flat[key]

    def origins(self) -> dict[str, NamespacedName]:
        """Return the functions by their flat names."""
        return {flat: named for named, flat in self._flat.items()}

    def _free(self, named: NamespacedName) -> str:
        between = "" if named.namespace.endswith(BETWEEN) else BETWEEN
        joined = f"{named.namespace}{between}{named.name}"
        head, name = UNSENDABLE.sub("_", named.namespace) + between, UNSENDABLE.sub("_", named.name)
        if head + name == joined and len(joined) <= LONGEST and joined not in self.taken:
            return joined
        digest = sha256(f"{named.namespace}\0{named.name}".encode()).hexdigest()[:HASH_LENGTH]
        room = LONGEST - HASH_LENGTH - 1
        # The name of the function helps the model more than that of its server.
        return f"{head[: max(room - len(name), 0)]}{name[:room]}_{digest}"


def flat_names(tools: Iterable[JSON]) -> FlatNames:
    """Return the names for a request with these tools; those of its other tools are taken."""
    return FlatNames({tool["name"] for tool in tools if tool["type"] in CALLED})


def opened(tools: list[JSON], names: FlatNames) -> list[tuple[JSON, str]]:
    """Return the tools, those of each namespace in its place, with the names that the model gets for them.

    A namespace without tools stays. Raises InvalidField for too many tools in all.
    """
    found: list[tuple[JSON, str]] = []
    for tool in tools:
        inner = (tool.get("tools") or []) if tool["type"] == NAMESPACE else []
        found += [(one, _name(one, tool["name"], names)) for one in inner] or [(tool, _name(tool, None, names))]
    if len(found) > MOST_TOOLS:
        raise InvalidField(f"`tools` must be {TOOLS['description']}, with those of namespaces.", "tools")
    return found


def _name(tool: JSON, namespace: str | None, names: FlatNames) -> str:
    return names.of(tool["name"], namespace) if tool["type"] in CALLED else ""
