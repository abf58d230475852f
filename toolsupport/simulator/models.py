"""The table of simulated models: one row is one model with one quirk."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from toolsupport.simulator.fitting.response_format import SchemaSupport, can_be_parsed
from toolsupport.simulator.go_json_writer import timestamp
from toolsupport.simulator.languages import objects, pythonic, tags
from toolsupport.simulator.quirks import (
    broken_json,
    codes,
    constrained,
    dies,
    fickle,
    flaky,
    hallucinates,
    halves,
    honest,
    hopeless_json,
    long,
    loops,
    one_at_a_time,
    sees,
    shell,
    silent,
    speaks,
    thinks,
    thinks_aloud,
    thinks_long,
    writes,
)
from toolsupport.simulator.types import JSON, HistoryMessage, ModelInput, SimulatedReply

FAMILY = "simulated"
LABEL = "Simulated: "
FULL_NAME = "registry.ollama.ai/library/{}:latest"
NAME = re.compile(r"(?:[\w.:-]+/){0,3}\w[\w.-]*(?::[\w.-]+)?", re.ASCII)
PREFIXES = ("registry.ollama.ai/", "library/")

CHAT = "{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}\n{{ end }}"
TOOLS = "{{ if .Tools }}<|tools|>{{ .Tools }}\n{{ end }}" + CHAT
THINKS = TOOLS + "{{ if .Think }}<think>{{ end }}"

MADE = int(datetime(2025, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000_000
SECOND = 1_000_000_000
MINUTE = 60 * SECOND
# The declared size of a model whose test is slow. A first visit does not test models of this size.
LARGE = 40 * 10**9


@dataclass(frozen=True, slots=True)
class ToolsRefusal:
    """How a server refuses tools; `{}` in the text is the model's name. `kind` and `code` are OpenAI's."""

    text: str
    kind: str = "api_error"
    code: int | None = None


NO_TOOLS = ToolsRefusal(f"{FULL_NAME} does not support tools")
# vLLM's message if it was started without the flags for tools.
NO_PARSER = ToolsRefusal(
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', "BadRequestError", 400
)


@dataclass(frozen=True, slots=True)
class SimulatedModel:
    """One simulated model. `capabilities` None: the server reports none.

    `refusal` is its server's answer to every request with tools. `reads_tools` False: tools are accepted, but never
    reach the model. `truncates`: text that does not fit into its context is silently dropped. `holds`: the largest
    context that fits into memory, 0: any. `drifts`: pulling it creates another build. `pace` stretches the time per
    token. `schemas`: what its server does with the JSON schema of a request.
    """

    name: str
    about: str
    reply: Callable[[ModelInput], SimulatedReply]
    capabilities: tuple[str, ...] | None = ("completion", "tools")
    template: str = TOOLS
    build: int = 1
    size: int = 65_536
    context: int = 32_768
    pace: float = 1.0
    slow: bool = False
    refusal: ToolsRefusal | None = None
    reads_tools: bool = True
    truncates: bool = False
    holds: int = 0
    drifts: bool = False
    schemas: SchemaSupport = SchemaSupport.IGNORED

    def enforces(self, schema: JSON | None) -> bool:
        """Return whether the server enforces this schema."""
        if schema is None or self.schemas in (SchemaSupport.IGNORED, SchemaSupport.REFUSED):
            return False
        return self.schemas == SchemaSupport.ENFORCED or can_be_parsed(schema)

    @property
    def digest(self) -> str:
        """64 hex characters, which change with `build`."""
        return hashlib.sha256(f"{self.name} build {self.build}".encode()).hexdigest()

    @property
    def thinks(self) -> bool:
        return "thinking" in (self.capabilities or ())

    @property
    def chats(self) -> bool:
        return "embedding" not in (self.capabilities or ())

    @property
    def modified(self) -> int:
        """Nanoseconds since 1970; later rows of the table are older, so that lists keep its order."""
        return MADE - list(MODELS).index(self.name) * MINUTE + (self.build - 1) * SECOND

    @property
    def modified_at(self) -> str:
        return timestamp(self.modified)


def _writes(name: str, words: str, reply: Callable[[ModelInput], SimulatedReply]) -> SimulatedModel:
    """Return a model without native tools, which writes its calls as text."""
    return SimulatedModel(
        name, f"{LABEL}{words}.", reply, capabilities=("completion",), template=CHAT, refusal=NO_TOOLS
    )


def _held(
    name: str, words: str, schemas: SchemaSupport, reply: Callable[[ModelInput], SimulatedReply] = constrained.reply
) -> SimulatedModel:
    """Return a model whose calls can be parsed only if its server enforces a schema; declared as large."""
    model = _writes(name, words, reply)
    return replace(model, size=LARGE, pace=0.1, schemas=schemas)


def _thinks(name: str, words: str, reply: Callable[[ModelInput], SimulatedReply]) -> SimulatedModel:
    """Return a thinking model with a tenth of the time per token, since it thinks a lot."""
    able = ("completion", "tools", "thinking")
    return SimulatedModel(name, f"{LABEL}{words}.", reply, capabilities=able, template=THINKS, pace=0.1)


NATIVE = (
    SimulatedModel("sim-honest", "Simulated: calls the tools it is offered, as asked.", honest.reply),
    SimulatedModel(
        "sim-thinks",
        "Simulated: thinks before it answers or calls.",
        thinks.reply,
        capabilities=("completion", "tools", "thinking"),
        template=THINKS,
    ),
    SimulatedModel(
        "sim-refuses",
        "Simulated: its server refuses every request that offers tools.",
        honest.reply,
        capabilities=None,
        template=CHAT,
        refusal=NO_TOOLS,
        size=LARGE,
    ),
    SimulatedModel(
        "sim-ignores",
        "Simulated: its server accepts tools, and never passes them to the model.",
        honest.reply,
        reads_tools=False,
        pace=0.1,
    ),
    SimulatedModel(
        "sim-slow-load", "Simulated: takes seconds to load, then is quick.", honest.reply, slow=True, size=LARGE
    ),
    SimulatedModel("sim-dies", "Simulated: its connection is cut in mid-stream.", dies.reply),
    SimulatedModel("sim-long", "Simulated: gives long answers, slowly.", long.reply, pace=5 / 3, size=LARGE),
    SimulatedModel(
        "sim-unknown",
        "Simulated: uses tools well, but its server reports no capabilities.",
        honest.reply,
        capabilities=None,
        template=CHAT,
    ),
    SimulatedModel("sim-shell", "Simulated: refuses tools for files, and does the same with a shell.", shell.reply),
    SimulatedModel("sim-hallucinates", "Simulated: calls tools that were not offered.", hallucinates.reply, size=LARGE),
    SimulatedModel("sim-loops", "Simulated: makes the same call again and again.", loops.reply),
    SimulatedModel(
        "sim-flaky", "Simulated: calls for two wordings of three, else only announces a call.", flaky.reply, size=LARGE
    ),
    SimulatedModel(
        "sim-speaks", "Simulated: accepts tools, but writes its calls into its answer.", speaks.reply, size=LARGE
    ),
    SimulatedModel("sim-parallel-less", "Simulated: never makes two calls at once.", one_at_a_time.reply),
    SimulatedModel("sim-drifts", "Simulated: becomes another build whenever it is pulled.", honest.reply, drifts=True),
    SimulatedModel(
        "sim-truncates",
        "Simulated: drops what does not fit into its context, and does not load with more than 16,384 tokens of it.",
        honest.reply,
        truncates=True,
        holds=16_384,
    ),
    SimulatedModel(
        "sim-misconfigured",
        "Simulated: its server was started without the flags for tools, as vLLM can be.",
        honest.reply,
        capabilities=None,
        template=CHAT,
        refusal=NO_PARSER,
    ),
    SimulatedModel(
        "sim-halves", "Simulated: calls for every second wording, else only announces a call.", halves.reply, size=LARGE
    ),
    SimulatedModel(
        "sim-fickle", "Simulated: makes single calls, and succeeds at the rest half of the time.", fickle.reply
    ),
    SimulatedModel("sim-silent", "Simulated: sends an empty answer if a call is needed.", silent.reply),
    _thinks("sim-thinks-long", "thinks a thousand tokens before it answers or calls", thinks_long.reply),
    _thinks("sim-thinks-endless", "thinks without end before each call", thinks_long.without_end),
    _thinks("sim-thinks-off", "calls only with thinking off", thinks_long.instead_of_calling),
    SimulatedModel(
        "sim-claims",
        "Simulated: declares tools, but its server refuses every request that offers them.",
        honest.reply,
        refusal=NO_TOOLS,
        size=LARGE,
    ),
    SimulatedModel(
        "sim-sees",
        "Simulated: accepts images, and describes them by rules.",
        sees.reply,
        capabilities=("completion", "tools", "vision"),
    ),
)
TEXT = (
    _writes("sim-hermes", "writes its calls as text, as Hermes does", writes.in_language(objects.hermes)),
    _writes("sim-mistral", "writes its calls as text, in Mistral's array", writes.in_language(objects.mistral)),
    _writes(
        "sim-mistral-args",
        "writes its calls as text, in Mistral's name[ARGS] form",
        writes.in_language(objects.mistral_args),
    ),
    _writes("sim-pythonic", "writes its calls as a Python list", writes.in_language(pythonic.plain)),
    _writes(
        "sim-llama4",
        "writes its calls as a Python list between Llama 4's markers",
        writes.in_language(pythonic.llama4),
    ),
    _writes("sim-lfm2", "writes its calls as a Python list between LFM2's markers", writes.in_language(pythonic.lfm2)),
    _writes("sim-olmo3", "writes its calls as lines of Python, as OLMo 3 does", writes.in_language(pythonic.olmo3)),
    _writes("sim-json", "writes its calls as plain JSON", writes.in_language(objects.plain)),
    _writes("sim-llama3-json", "writes its calls as JSON, as Llama 3 does", writes.in_language(objects.llama3)),
    _writes(
        "sim-qwen3-coder-xml", "writes its calls as XML tags, as Qwen3-Coder does", writes.in_language(tags.qwen3_coder)
    ),
    _writes("sim-code", "writes a Python program that calls its tools", codes.reply),
    _writes("sim-broken-json", "writes its calls in broken JSON that can be repaired", broken_json.reply),
    _writes("sim-python", "writes its calls as plain lines of Python", writes.in_language(pythonic.lines)),
    _writes("sim-hopeless-json", "writes calls that cannot be parsed, then gives up", hopeless_json.reply),
)
ALOUD = (
    _writes(
        "sim-thinks-aloud",
        "writes its thoughts into its text, then its calls as Hermes does",
        thinks_aloud.in_marks(objects.hermes),
    ),
    _writes(
        "sim-thinks-inside",
        "begins in the middle of its thoughts, and only closes them",
        thinks_aloud.in_marks(objects.hermes, opening=""),
    ),
)
HELD = (
    _held("sim-constrained", "writes malformed calls, unless its server enforces a schema", SchemaSupport.ENFORCED),
    _held("sim-noise", "writes noise, which its server makes fit a schema", SchemaSupport.ENFORCED, constrained.noise),
    replace(
        _held(
            "sim-constrained-thinks",
            "thinks, then writes malformed calls unless its server enforces a schema",
            SchemaSupport.ENFORCED,
            constrained.thinking,
        ),
        capabilities=("completion", "thinking"),
    ),
    _held(
        "sim-unconstrained", "writes malformed calls; its server accepts a schema and ignores it", SchemaSupport.IGNORED
    ),
    _held("sim-no-schemas", "writes malformed calls; its server refuses every schema", SchemaSupport.REFUSED),
    _held(
        "sim-fails-open",
        "writes malformed calls; its server ignores a schema that it cannot parse",
        SchemaSupport.FAILS_OPEN,
    ),
)
VECTORS = (
    SimulatedModel(
        "sim-embed",
        "Simulated: makes embeddings of texts from their words, and does not chat.",
        honest.reply,
        capabilities=("embedding",),
        template="{{ .Prompt }}",
    ),
)
MODELS = {model.name: model for model in (*NATIVE, *TEXT, *ALOUD, *HELD, *VECTORS)}


def is_name(text: str) -> bool:
    """Return whether a text could be a model's name."""
    return bool(NAME.fullmatch(text))


def find(text: str) -> SimulatedModel | None:
    """Return the model with a name, with or without registry and tag."""
    name = text.lower()
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    return MODELS.get(name.removesuffix(":latest"))


def render(prompt: ModelInput) -> str:
    """Return the prompt as one text, as a chat template writes it."""
    shown = [f"<|{message.role}|>{_spoken(message)}\n" for message in prompt.messages]
    if prompt.tools:
        offered = [{"name": tool.name, "description": tool.description, **tool.parameters} for tool in prompt.tools]
        shown.insert(0, f"<|tools|>{json.dumps(offered)}\n")
    return "".join(shown) + ("<think>" if prompt.think else "")


def _spoken(message: HistoryMessage) -> str:
    calls = "".join(f"<|call|>{call.name}{json.dumps(call.arguments)}" for call in message.calls)
    return message.content + calls
