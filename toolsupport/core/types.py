"""The nouns every room of the house speaks in, as frozen dataclasses."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeGuard

JSON = dict[str, Any]


class Role(StrEnum):
    """Who speaks in a conversation. NOTICE is for people: it never reaches a model."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    NOTICE = "notice"


class Permit(StrEnum):
    """Why a request may carry tools: an ordinary turn needs support, a probe measures it."""

    TURN = "turn"
    PROBE = "probe"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model sees it. `parameters` is a JSON Schema of type object."""

    name: str
    description: str = ""
    parameters: JSON = field(default_factory=lambda: {"type": "object", "properties": {}, "required": []})

    @classmethod
    def from_openai(cls, tool: Mapping[str, Any]) -> ToolSpec:
        """Read `{"type": "function", "function": {name, description?, parameters?}}` or the bare function.

        Missing parts get description "", properties {} and required [].
        Raises ValueError where there is no name.
        """
        function = tool.get("function", tool)
        name = function.get("name") if isinstance(function, Mapping) else None
        if not isinstance(name, str) or not name:
            raise ValueError("a tool needs a name")
        return cls(name, str(function.get("description") or ""), function.get("parameters") or {}).completed()

    def completed(self) -> ToolSpec:
        """The same with properties {} and required [] where its schema leaves them out, as some servers want it."""
        return replace(self, parameters={"type": "object", "properties": {}, "required": []} | self.parameters)

    def to_openai(self) -> JSON:
        """The shape that both Ollama and OpenAI-style servers take in `tools`."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call a model asked for; `repairs` says in words what had to be mended to read it."""

    id: str
    name: str
    arguments: JSON
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back: `content` is the text the model reads, `table` as CSV what people may save."""

    content: str
    is_error: bool = False
    table: str = ""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One entry of the canonical log. `call_id` and `name` are set on tool results only."""

    role: Role
    content: str = ""
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    name: str = ""
    images: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Capability:
    """A value that is never bare: where it comes from, since when (ISO 8601, or "") and why.

    `value` None means unknown, which is not no. `override` is the row's id, where a row decided.
    """

    name: str
    value: Any
    source: str
    reason: str
    since: str = ""
    override: int | None = None
    stale: bool = False

    @property
    def known(self) -> bool:
        return self.value is not None

    def to_json(self) -> JSON:
        return {"value": self.value, "source": self.source, "since": self.since, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Capabilities:
    """All capabilities of one model, by name; a name nobody ever spoke of is unknown."""

    values: Mapping[str, Capability]

    def __getitem__(self, name: str) -> Capability:
        found = self.values.get(name)
        return found or Capability(name, None, "default", "Nothing is known about this yet.")

    def to_json(self) -> JSON:
        return {name: capability.to_json() for name, capability in self.values.items()}


@dataclass(frozen=True, slots=True)
class Build:
    """The identity a measurement holds for: change one part and the measurement is stale."""

    server: str
    name: str
    digest: str = ""
    template_hash: str = ""
    server_version: str = ""

    @property
    def key(self) -> str:
        """A stable digest (32 hex characters), never empty."""
        parts = (self.server, self.name, self.digest, self.template_hash, self.server_version)
        return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds. `first_token` covers loading the model; `between` is the longest silence after it.

    A reply may have `answer_bytes` on the wire and `answer_text` characters of text and thinking in it.
    """

    connect: float = 5.0
    first_token: float = 300.0
    between: float = 60.0
    total: float = 1800.0
    line_bytes: int = 2 * 1024 * 1024
    answer_bytes: int = 64 * 1024 * 1024
    answer_text: int = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a server is and how long it may take; an argument, never stored and never part of a Brief."""

    kind: str
    base_url: str
    api_key: str = field(default="", repr=False)
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A tool that was left out of a request, with the rule that decided it."""

    tool: str
    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class RequestSpec:
    """Everything one request to one model needs to know besides the messages and the endpoint.

    `format` is "native", the name of a text format, or "" (no tools are offered, `format_reason` says why);
    `fallbacks` are the formats to go on with where it fails.
    `options` are the server's sampling options (num_ctx, temperature …); `think` None leaves it to the server.
    `translates`: a call may be served by another tool; `hidden` are tools that serve calls and are not told of.
    `turn_context` is a key of prompt's TURN_CONTEXTS or "" (what is known of the model decides), `documents` are texts
    by the name of their file, `examples` calls of this model that worked, `strong_nudge` pushes it to use its tools.
    `hidden` tools may be called though it is not told of them. `begins_inside`: replies begin inside reasoning (None:
    that is not known).
    """

    model: str
    capabilities: Capabilities
    tools: tuple[ToolSpec, ...] = ()
    excluded: tuple[Exclusion, ...] = ()
    format: str = ""
    format_reason: str = ""
    fallbacks: tuple[str, ...] = ()
    system: str = ""
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    think: bool | str | None = None
    keep_alive: str = ""
    stream: bool = True
    permit: Permit = Permit.TURN
    turn_context: str = ""
    documents: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    examples: tuple[ToolCall, ...] = ()
    strong_nudge: bool = False
    translates: bool = False
    hidden: tuple[ToolSpec, ...] = ()
    begins_inside: bool | None = None

    @property
    def callable(self) -> tuple[ToolSpec, ...]:
        """What may be called: what is offered, and what is hidden beside it."""
        return (*self.tools, *self.hidden) if self.tools else ()

    @property
    def offers_tools(self) -> bool:
        """True where the model is told of tools, natively or in a text format."""
        return bool(self.format and self.tools)


@dataclass(frozen=True, slots=True)
class Request:
    """What a codec encodes: a brief and a history that were already rendered for the target.

    `tools` is empty wherever the model must not see native tools; a codec never sends an empty list.
    `supports_tools` repeats the capability (None: unknown), so that a codec can refuse on its own what slipped
    past those who decide: see `may_carry_tools`.
    """

    model: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    think: bool | str | None = None
    keep_alive: str = ""
    stream: bool = True
    supports_tools: bool | None = None
    permit: Permit = Permit.TURN

    @property
    def may_carry_tools(self) -> bool:
        """True where the model is known to take tools, and for a probe, which measures just that."""
        return self.supports_tools is True or self.permit is Permit.PROBE


@dataclass(frozen=True, slots=True)
class ToolFilter:
    """Tools and MCP servers, by name, that people do not want offered; whatever is not named is allowed."""

    tools: frozenset[str] = frozenset()
    servers: frozenset[str] = frozenset()

    @classmethod
    def read(cls, stored: object) -> ToolFilter:
        """What was kept as `{"tools": [name, …], "servers": [name, …]}`; anything else leaves nothing out."""
        kept = stored if isinstance(stored, Mapping) else {}
        lists = (kept.get(kind) for kind in ("tools", "servers"))
        return cls(*(frozenset(map(str, names)) if isinstance(names, list) else frozenset() for names in lists))

    def to_json(self) -> JSON:
        return {"tools": sorted(self.tools), "servers": sorted(self.servers)}


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """What a person set for one conversation; None and "" leave it to the model's profile and the team.

    `tools_on` is the conversation's own switch, `system` replaces the team's base prompt, `temperature` is 0 to 2.
    `format` is the call format that this conversation prefers, `left_out` the tools it does not want. `asked_format` is
    the text format that a person asked for in one answer, whether or not it was found to work.
    """

    tools_on: bool | None = None
    format: str = ""
    system: str = ""
    temperature: float | None = None
    left_out: ToolFilter = field(default_factory=ToolFilter)
    asked_format: str = ""


def is_json_object(value: object) -> TypeGuard[JSON]:
    """True for a dict whose keys are all text, as JSON has them."""
    return isinstance(value, dict) and all(isinstance(key, str) for key in value)
