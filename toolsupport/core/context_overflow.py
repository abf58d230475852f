"""Parses from a server's error by how much a request exceeded the context, and names the setting that raises it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from toolsupport.core.sentences import sentence

# OpenAI's code of such an error.
CODE = "context_length_exceeded"
LONGEST = 65_536
# llama-server's fields, also inside the JSON string or the Go map in which Ollama passes them on.
PROMPT = re.compile(r"\bn_prompt_tokens\W{1,8}(\d{1,9})\b")
CONTEXT = re.compile(r"\bn_ctx\W{1,8}(\d{1,9})\b")

# Servers and services that write both numbers in a sentence, and bodies that lost their fields on the way. Each names
# what a request has and what the context holds; no part of a pattern can repeat without a limit.
SENTENCES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # llama-server, and Ollama which passes its sentence on
        r"request \((?P<prompt>\d{1,9}) tokens\) exceeds the available context size \((?P<context>\d{1,9}) tokens\)",
        # vLLM since 2025
        r"maximum context length is (?P<context>\d{1,9}) tokens.{1,160}? for a total of at least (?P<prompt>\d{1,9})\b",
        # OpenAI, vLLM, SGLang, OpenRouter, LiteLLM; the first number may also count only the messages
        r"maximum context length (?:is|of) (?P<context>\d{1,9}) tokens?.{1,80}?"
        r"(?:requested(?: about| a total of)?|resulted in|has|contains at least) (?P<prompt>\d{1,9})\b",
        r"exceed the configured limit of (?P<context>\d{1,9}) tokens.{1,40}? resulted in (?P<prompt>\d{1,9})\b",
        # vLLM for a text, SGLang
        r"prompt \(length (?P<prompt>\d{1,9})\) is longer than the maximum model length of (?P<context>\d{1,9})\b",
        r"input \((?P<prompt>\d{1,9}) tokens\) is longer than the model's context length "
        r"\((?P<context>\d{1,9}) tokens\)",
        r"input length \((?P<prompt>\d{1,9}) tokens\) exceeds the maximum allowed length \((?P<context>\d{1,9}) tokens",
        # TGI, and Together in its words
        r"must (?:be <=|have less than) (?P<context>\d{1,9})(?: tokens)?\. given: (?P<prompt>\d{1,9})\b",
        # LM Studio
        r"keep the first (?P<prompt>\d{1,9}) tokens .{1,80}? context length of only (?P<context>\d{1,9}) tokens",
        # Anthropic's protocol, and proxies in front of it; Fireworks
        r"prompt is too long: (?P<prompt>\d{1,9}) tokens > (?P<context>\d{1,9}) maximum",
        r"prompt is too long: (?P<prompt>\d{1,9}), model maximum context length: (?P<context>\d{1,9})\b",
        # Gemini, Mistral, xAI, Cerebras
        r"input token count \((?P<prompt>\d{1,9})\) exceeds the maximum number of tokens allowed "
        r"\((?P<context>\d{1,9})\)",
        r"prompt contains (?P<prompt>\d{1,9}) tokens.{0,40}?,? too large for model with (?P<context>\d{1,9}) maximum",
        r"maximum prompt length is (?P<context>\d{1,9}) but the request contains (?P<prompt>\d{1,9})\b",
        r"current length is (?P<prompt>\d{1,9}) while limit is (?P<context>\d{1,9})\b",
    )
)

# Advice by kind of server: our requests set the context only in Ollama's protocol.
HELP: Mapping[str, str] = MappingProxyType(
    {
        "ollama": sentence("context_of_request"),
        "simulator": sentence("context_of_request"),
        "llamacpp": sentence("context_llamacpp"),
        "vllm": sentence("context_vllm"),
        "sglang": sentence("context_sglang"),
    }
)
OTHERWISE = sentence("context_of_server")


@dataclass(frozen=True, slots=True)
class ContextExceeded:
    """A request of `prompt` tokens did not fit into `context` tokens."""

    prompt: int
    context: int

    def sentence(self, kind: str) -> str:
        size = f"The request has {self.prompt:,} tokens, the context of its model {self.context:,}."
        return f"{size} {help_for(kind)}"


def exceeded(status: int, body: str) -> ContextExceeded | None:
    """Parse the two numbers of such an error; None for any other error."""
    if status and not 400 <= status < 500:
        return None
    body = body[:LONGEST]
    prompt, context = PROMPT.search(body), CONTEXT.search(body)
    if prompt and context:
        found = ContextExceeded(int(prompt[1]), int(context[1]))
    elif written := next((match for sentence in SENTENCES if (match := sentence.search(body))), None):
        found = ContextExceeded(int(written["prompt"]), int(written["context"]))
    else:
        return None
    return found if 0 < found.context <= found.prompt else None


def help_for(kind: str) -> str:
    """Return advice for a conversation that is too long for a server of this kind."""
    return HELP.get(kind, OTHERWISE)
