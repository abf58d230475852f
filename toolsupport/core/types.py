"""Defines the shared domain types as frozen dataclasses."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeGuard, cast

from toolsupport.core.shared_json import SharedJson

JSON = dict[str, Any]


class Role(StrEnum):
    """The author of a message. A NOTICE is for people: it is never sent to a model."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    NOTICE = "notice"


class Permit(StrEnum):
    """The reason why a request may carry tools: an ordinary turn needs support, a probe measures it."""

    TURN = "turn"
    PROBE = "probe"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model sees it. `parameters` is a JSON Schema of type object.

    `strict`: a program demands arguments that fit it exactly; servers that can enforce that are asked to.
    """

    name: str
    description: str = ""
    parameters: JSON = field(default_factory=lambda: {"type": "object", "properties": {}, "required": []})
    strict: bool = False

    @classmethod
    def from_openai(cls, tool: Mapping[str, Any]) -> ToolSpec:
        """Parse `{"type": "function", "function": {name, description?, parameters?, strict?}}` or the bare function.

        Missing parts become description "", properties {} and required []. Raises ValueError without a name.
        """
        function = tool.get("function", tool)
        name = function.get("name") if isinstance(function, Mapping) else None
        if not isinstance(name, str) or not name:
            raise ValueError("a tool needs a name")
        words, strict = str(function.get("description") or ""), function.get("strict") is True
        return cls(name, words, function.get("parameters") or {}, strict).completed()

    def completed(self) -> ToolSpec:
        """Return the same spec with properties {} and required [] for missing ones or null, as some servers require."""
        given = {name: value for name, value in self.parameters.items() if value is not None}
        return replace(self, parameters={"type": "object", "properties": {}, "required": []} | given)

    def to_openai(self) -> JSON:
        """Return the form that both Ollama and OpenAI-style servers accept in `tools`."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class Signature:
    """What a model wrote about the thoughts before a call, for itself: only `model`, at its server, can read it again.

    `text` is Google's signature of one call. `blocks` are OpenRouter's `reasoning_details`, on the first call.
    `account` is that of the server's endpoint: another server may have a model of the same name.
    """

    model: str
    text: str = ""
    blocks: tuple[JSON, ...] = ()
    account: str = ""

    def with_ids(self, ids: Mapping[str, str]) -> Signature:
        """Return it with other ids of calls in its blocks; `ids` maps the old ones to the new ones."""
        own = [ids.get(block["id"]) if isinstance(block.get("id"), str) else None for block in self.blocks]
        named = (block | {"id": new} if new else block for block, new in zip(self.blocks, own, strict=True))
        return replace(self, blocks=tuple(named)) if any(own) else self


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model requested; `repairs` describes the repairs that were needed to parse it.

    `signature` is in memory only: no model needs a real one for earlier turns.
    """

    id: str
    name: str
    arguments: JSON
    repairs: tuple[str, ...] = ()
    signature: Signature | None = None

    @property
    def size(self) -> int:
        """Estimate in characters how much work the call is; what is nested in its arguments is counted by number."""
        sizes = (len(value) for value in self.arguments.values() if isinstance(value, str | list | dict))
        return 128 + 16 * len(self.arguments) + sum(sizes)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool: `content` is the text for the model, `table` the CSV that people may save."""

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

    @property
    def size(self) -> int:
        """Estimate in characters how much work the message is: a short message or call is as much as 128 of them."""
        images = sum(map(len, self.images))
        return len(self.content) + len(self.thinking) + images + 128 + sum(call.size for call in self.calls)


@dataclass(frozen=True, slots=True)
class Capability:
    """A value with its source, its time (ISO 8601, or "") and its reason.

    `value` None means unknown, which is not no. `override` is the row's id, if a row decided, with its test and
    its person, if it has one.
    """

    name: str
    value: Any
    source: str
    reason: str
    since: str = ""
    override: int | None = None
    stale: bool = False
    test: int | None = None
    actor: str = ""

    @property
    def known(self) -> bool:
        return self.value is not None

    def to_json(self) -> JSON:
        return {"value": self.value, "source": self.source, "since": self.since, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Capabilities:
    """All capabilities of one model, by name; a name without any claim is unknown.

    `older` are the kinds of tests to repeat: they were made of another build than the present one. `derived` has what
    was computed from them before, by its other inputs: the values of a model stay the same for many answers.
    """

    values: Mapping[str, Capability]
    older: frozenset[str] = frozenset()
    derived: dict[Any, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __getitem__(self, name: str) -> Capability:
        return self.values.get(name) or Capability(name, None, "default", "Not measured yet.")

    def to_json(self) -> JSON:
        """Return them as a row keeps them: the same object each time, which callers do not change."""
        made: JSON = self.derived.get("json") or SharedJson((name, one.to_json()) for name, one in self.values.items())
        return cast(JSON, self.derived.setdefault("json", made))


@dataclass(frozen=True, slots=True)
class Build:
    """The identity that a measurement holds for; if one part changes, the measurement is stale."""

    server: str
    name: str
    digest: str = ""
    template_hash: str = ""
    server_version: str = ""

    @property
    def key(self) -> str:
        """Return a stable digest (32 hex characters), never empty."""
        parts = (self.server, self.name, self.digest, self.template_hash, self.server_version)
        return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds. `first_token` covers loading the model; `between` is the longest silence after it.
    A reply may have `answer_bytes` bytes and `answer_text` characters of text and thinking.
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
    """The address of a server and its time limits; passed as an argument, never stored, not part of a RequestSpec.

    `inside`: the server may be on this machine or in this network.
    """

    kind: str
    base_url: str
    api_key: str = field(default="", repr=False)
    limits: Limits = Limits()
    inside: bool = True

    @property
    def account(self) -> str:
        """A digest of address and key: signatures of reasoning are valid at this server and with this key only.

        The number of the server's row would not do, because a person can give the row another address.
        """
        return hashlib.sha256(f"{self.base_url}\n{self.api_key}".encode(errors="replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A tool that was left out of a request, with the rule that decided it."""

    tool: str
    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class CallConstraint:
    """The permitted forms of a constrained reply, in the format of constrained output.

    `tools` are the names of those that may be called, () for all offered ones; `answer`: it may answer in words.
    `narrow`: after rejected calls its schema may leave out rare values that fit. `plain`: its server refused the whole
    schema, so that arguments are objects of any kind.
    """

    tools: tuple[str, ...] = ()
    answer: bool = True
    narrow: bool = False
    plain: bool = False


@dataclass(frozen=True, slots=True)
class RequestSpec:
    """All parameters of one request to one model, except the messages and the endpoint.

    `format` is "native", the name of a text format, or "" (no tools are offered, for the reason `format_reason`);
    `fallbacks` are the formats to continue with if it fails. `options` are the server's sampling options (num_ctx,
    temperature …); `think` None leaves it to the server. `translates`: another tool may serve a call; `hidden` tools
    may be called although they are not offered. `turn_context` is a key of prompt's TURN_CONTEXTS or "" (the model's
    capabilities decide), `documents` are texts by file name, `examples` successful calls of this model, `strong_nudge`
    adds the tool-use reminder. `notes` is text for the first message of a person that the model is shown: data that
    must not be read as an instruction. `begins_inside`: replies begin inside reasoning (None: unknown).
    `if_refused` is the text format to try if the server refuses native tools and `fallbacks` has none. `may_force`: the
    server enforces a schema, and the team allows that. `keywords` are further ones that it enforces in a schema.
    `constraint` narrows a constrained reply, `unconstrained` is the same request without it, if it can be sent so;
    `schema` is that of a probe, which measures whether the server enforces one. `words_after_results`: the log is a
    program's, in which a person's message may follow results directly; `images_in_results`: its server takes them so.
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
    notes: str = ""
    examples: tuple[ToolCall, ...] = ()
    strong_nudge: bool = False
    translates: bool = False
    hidden: tuple[ToolSpec, ...] = ()
    begins_inside: bool | None = None
    if_refused: str = ""
    may_force: bool = False
    keywords: frozenset[str] = frozenset()
    constraint: CallConstraint = CallConstraint()
    unconstrained: RequestSpec | None = None
    schema: JSON | None = None
    words_after_results: bool = False
    images_in_results: bool = True

    @property
    def callable(self) -> tuple[ToolSpec, ...]:
        """The tools that may be called: the offered and the hidden ones."""
        return (*self.tools, *self.hidden) if self.tools else ()

    @property
    def offers_tools(self) -> bool:
        """True if the model is offered tools, natively or in a text format."""
        return bool(self.format and self.tools)


@dataclass(frozen=True, slots=True)
class Request:
    """The input of a codec: a request and a history that are already rendered for the target.

    `tools` is empty if the model must not see native tools; a codec never sends an empty list. `supports_tools` repeats
    the capability (None: unknown), so that a codec can refuse on its own: see `may_carry_tools`. `schema` is what the
    reply is constrained to, never beside native tools: see `forbidden`. `left_out` names what this model's server
    refused: fields of the protocol, a history without `thoughts` or `signatures`, and keys of refused_history.REFUSED.
    `account` is that of the endpoint to which it is sent.
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
    schema: JSON | None = None
    left_out: frozenset[str] = frozenset()
    account: str = ""

    @property
    def may_carry_tools(self) -> bool:
        """True if the model is known to support tools, and for a probe, which measures that."""
        return self.supports_tools is True or self.permit is Permit.PROBE

    def forbidden(self) -> str:
        """Return why this request must not be sent, "" if it may: every codec asks before it writes one.

        A schema beside native tools stops models from calling them.
        """
        if self.tools and not self.may_carry_tools:
            return f"Tools were not sent: {self.model} is not known to support them."
        if self.tools and self.schema is not None:
            return "Native tools and a schema for the reply were not sent together."
        return ""


@dataclass(frozen=True, slots=True)
class ToolFilter:
    """Tools and MCP servers, by name, that people excluded; all others are allowed."""

    tools: frozenset[str] = frozenset()
    servers: frozenset[str] = frozenset()

    @classmethod
    def read(cls, stored: object) -> ToolFilter:
        """Parse `{"tools": [name, …], "servers": [name, …]}`; anything else excludes nothing."""
        kept = stored if isinstance(stored, Mapping) else {}
        lists = (kept.get(kind) for kind in ("tools", "servers"))
        return cls(*(frozenset(map(str, names)) if isinstance(names, list) else frozenset() for names in lists))

    def to_json(self) -> JSON:
        return {"tools": sorted(self.tools), "servers": sorted(self.servers)}


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """The settings of one conversation; None and "" leave the value to the model's profile and the team.

    `tools_on` is the conversation's own switch, `system` replaces the team's base prompt, `temperature` is 0 to 2.
    `format` is the call format that this conversation prefers, `left_out` are its excluded tools. `asked_format` is the
    text format that a person requested for one answer, whether or not a test found that it works.
    """

    tools_on: bool | None = None
    format: str = ""
    system: str = ""
    temperature: float | None = None
    left_out: ToolFilter = field(default_factory=ToolFilter)
    asked_format: str = ""


def is_json_object(value: object) -> TypeGuard[JSON]:
    """Return True for a dict whose keys are all strings, as in JSON."""
    return isinstance(value, dict) and all(isinstance(key, str) for key in value)
