"""The table of simulated models: one row is one model with one quirk."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from toolsupport.simulator.gojson import timestamp
from toolsupport.simulator.nouns import Prompt, Reply, Said
from toolsupport.simulator.quirks import dies, honest, long, thinks

FAMILY = "simulated"
FULL_NAME = "registry.ollama.ai/library/{}:latest"
NAME = re.compile(r"(?:[\w.:-]+/){0,3}\w[\w.-]*(?::[\w.-]+)?", re.ASCII)
PREFIXES = ("registry.ollama.ai/", "library/")

CHAT = "{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}\n{{ end }}"
TOOLS = "{{ if .Tools }}<|tools|>{{ .Tools }}\n{{ end }}" + CHAT
THINKS = TOOLS + "{{ if .Think }}<think>{{ end }}"

MADE = int(datetime(2025, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000_000
MINUTE = 60 * 1_000_000_000


@dataclass(frozen=True, slots=True)
class Model:
    """One simulated model. `capabilities` None: the server says nothing of them.

    `reads_tools` False: tools are accepted, but never reach the model. `pace` stretches the time per token.
    """

    name: str
    about: str
    reply: Callable[[Prompt], Reply]
    capabilities: tuple[str, ...] | None = ("completion", "tools")
    template: str = TOOLS
    build: int = 1
    size: int = 65_536
    context: int = 32_768
    pace: float = 1.0
    slow: bool = False
    refuses_tools: bool = False
    reads_tools: bool = True

    @property
    def digest(self) -> str:
        """64 hex characters, the same until `build` is raised."""
        return hashlib.sha256(f"{self.name} build {self.build}".encode()).hexdigest()

    @property
    def thinks(self) -> bool:
        return "thinking" in (self.capabilities or ())

    @property
    def modified(self) -> int:
        """Nanoseconds since 1970; models further down the table are older, so that lists keep its order."""
        return MADE - list(MODELS).index(self.name) * MINUTE

    @property
    def modified_at(self) -> str:
        return timestamp(self.modified)


MODELS = {
    model.name: model
    for model in (
        Model("sim-honest", "Simulated: calls the tools it is offered, as asked.", honest.reply),
        Model(
            "sim-thinks",
            "Simulated: thinks before it answers or calls.",
            thinks.reply,
            capabilities=("completion", "tools", "thinking"),
            template=THINKS,
        ),
        Model(
            "sim-refuses",
            "Simulated: its server refuses every request that offers tools.",
            honest.reply,
            capabilities=None,
            template=CHAT,
            refuses_tools=True,
        ),
        Model(
            "sim-ignores",
            "Simulated: says that it takes tools, then never sees them.",
            honest.reply,
            reads_tools=False,
        ),
        Model("sim-slow-load", "Simulated: takes seconds to load, then is quick.", honest.reply, slow=True),
        Model("sim-dies", "Simulated: its connection is cut in mid-stream.", dies.reply),
        Model("sim-long", "Simulated: gives long answers, slowly.", long.reply, pace=5 / 3),
        Model(
            "sim-unknown",
            "Simulated: uses tools well, but its server says nothing of it.",
            honest.reply,
            capabilities=None,
            template=CHAT,
        ),
    )
}


def is_name(text: str) -> bool:
    """Whether a text could be a model's name at all."""
    return bool(NAME.fullmatch(text))


def find(text: str) -> Model | None:
    """The model of a name as it is written in requests, with or without registry and tag."""
    name = text.lower()
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    return MODELS.get(name.removesuffix(":latest"))


def render(prompt: Prompt) -> str:
    """The prompt as one text, the way a chat template writes it."""
    shown = [f"<|{said.role}|>{_spoken(said)}\n" for said in prompt.messages]
    if prompt.tools:
        offered = [{"name": tool.name, "description": tool.description, **tool.parameters} for tool in prompt.tools]
        shown.insert(0, f"<|tools|>{json.dumps(offered)}\n")
    return "".join(shown) + ("<think>" if prompt.think else "")


def _spoken(said: Said) -> str:
    calls = "".join(f"<|call|>{call.name}{json.dumps(call.arguments)}" for call in said.calls)
    return said.content + calls
