"""Lists the supported kinds of servers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

from toolsupport.config.application_paths import COMMAND
from toolsupport.core.errors import ConfigError
from toolsupport.core.sentences import sentence
from toolsupport.providers.codec import Codec
from toolsupport.providers.ollama_codec import OllamaCodec
from toolsupport.providers.openai_codec import OpenAICodec
from toolsupport.providers.openai_request import OpenAIDialect

# Grammars of llama.cpp support patterns. vLLM and SGLang use another library where a schema needs more.
PATTERNS = frozenset({"pattern"})
PATTERNS_AND_MULTIPLES = frozenset({"pattern", "multipleOf"})


@dataclass(frozen=True, slots=True)
class Provider:
    """A kind of server. `wire` names its protocol: rows with the same protocol differ only by address or default.

    `default_url` is "" if there is none; `hint` is the advice if the server does not answer. `codec` takes the longest
    line in bytes and creates the reader of one reply. `about` is a path with more details about the server than its
    list of models, "" if there is none. `loads_on_demand`: it loads the requested model, and may unload another one for
    it. `holds_calls_back`: it sends nothing while the model writes a call. `constrains` is the field of a request that
    constrains the reply to a schema, "" if there is none; `thinks_first`: a model may think before such a reply, else
    thinking is turned off for it. `keywords` are those that such a schema may have beside the basic ones.
    `sets_strict`: tools are sent with `strict` where the server enforces schemas. `images_in_results`: images may be in
    the results of tools, as its templates or its API have them; OpenAI's API has them in messages of people only.
    `continues_unthinking`: it refuses to continue an answer if the model may think.
    """

    kind: str
    title: str
    wire: str
    codec: Callable[[int], Codec]
    chat_path: str
    default_url: str
    hint: str
    about: str = ""
    loads_on_demand: bool = False
    holds_calls_back: bool = False
    constrains: str = "response_format"
    thinks_first: bool = False
    keywords: frozenset[str] = PATTERNS
    sets_strict: bool = False
    images_in_results: bool = False
    continues_unthinking: bool = False


OPENAI = Provider(
    kind="openai",
    title="OpenAI-compatible",
    wire="openai",
    codec=OpenAICodec,
    chat_path="/v1/chat/completions",
    default_url="",
    hint=sentence("start_openai"),
)

# The same protocol at another path, or with small differences. Local servers take `top_k`, and templates of their
# models a switch for thinking; servers that ignore tool_choice or apply only a part of it (llama.cpp, LM Studio,
# LocalAI) do not get it.
LOCAL = OpenAIDialect(think="template", thoughts="reasoning_content", renamed={"top_k": "top_k"})
SERVED = replace(LOCAL, tool_choice=True)
HOSTED = sentence("check_hosted")
GEMINI_3 = r"gemini-(?:[3-9]|\d\d|[a-z-]*latest)"  # and later ones: they refuse calls without a signature

PROVIDERS = {
    provider.kind: provider
    for provider in (
        Provider(
            kind="ollama",
            title="Ollama",
            wire="ollama",
            codec=OllamaCodec,
            chat_path="/api/chat",
            default_url="http://127.0.0.1:11434",
            hint=sentence("start_ollama"),
            loads_on_demand=True,
            holds_calls_back=True,
            constrains="format",
            thinks_first=True,
            images_in_results=True,
        ),
        Provider(
            kind="simulator",
            title="Simulator",
            wire="ollama",
            codec=OllamaCodec,
            chat_path="/api/chat",
            default_url="",
            hint=sentence("start_simulator", command=COMMAND),
            constrains="format",
            thinks_first=True,
            images_in_results=True,
        ),
        OPENAI,
        replace(
            OPENAI,
            kind="llamacpp",
            title="llama.cpp",
            default_url="http://127.0.0.1:8080",
            hint=sentence("start_llamacpp"),
            about="/props",
            loads_on_demand=True,
            codec=partial(OpenAICodec, dialect=replace(LOCAL, grammar=True)),
            images_in_results=True,
            continues_unthinking=True,
        ),
        replace(
            OPENAI,
            kind="vllm",
            title="vLLM",
            default_url="http://127.0.0.1:8000",
            hint=sentence("start_vllm"),
            about="/version",
            # Versions of 2026 read the reasoning of earlier messages from `reasoning` only, older ones from the other.
            codec=partial(OpenAICodec, dialect=replace(SERVED, parallel=True, strict=True, thoughts_too="reasoning")),
            thinks_first=True,
            keywords=PATTERNS_AND_MULTIPLES,
            sets_strict=True,
        ),
        replace(
            OPENAI,
            kind="sglang",
            title="SGLang",
            default_url="http://127.0.0.1:30000",
            hint=sentence("start_sglang"),
            codec=partial(OpenAICodec, dialect=replace(SERVED, strict=True)),
            thinks_first=True,
            keywords=PATTERNS_AND_MULTIPLES,
            sets_strict=True,
        ),
        replace(
            OPENAI,
            kind="lmstudio",
            title="LM Studio",
            default_url="http://127.0.0.1:1234",
            hint=sentence("start_lmstudio"),
            about="/api/v0/models",
            loads_on_demand=True,
            codec=partial(OpenAICodec, dialect=OpenAIDialect(grammar=True)),
        ),
        replace(
            OPENAI,
            kind="localai",
            title="LocalAI",
            default_url="http://127.0.0.1:8080",
            hint=sentence("start_localai"),
            about="/version",
            loads_on_demand=True,
        ),
        replace(
            OPENAI,
            kind="openrouter",
            title="OpenRouter",
            default_url="https://openrouter.ai/api",
            hint=HOSTED,
            keywords=frozenset(),
            codec=partial(
                OpenAICodec,
                dialect=OpenAIDialect(
                    think="reasoning",
                    thoughts="reasoning",
                    tool_choice=True,
                    parallel=True,
                    schema="closed",
                    signed=f"google/{GEMINI_3}",
                    blocks=True,
                ),
            ),
            thinks_first=True,
        ),
        replace(
            OPENAI,
            kind="openai.com",
            title="OpenAI",
            default_url="https://api.openai.com",
            hint=HOSTED,
            keywords=frozenset(),
            codec=partial(
                OpenAICodec,
                dialect=OpenAIDialect(
                    think="effort",
                    renamed={"max_tokens": "max_completion_tokens", "num_predict": "max_completion_tokens"},
                    tool_choice=True,
                    parallel=True,
                    strict=True,
                    own_temperature=r"o\d|gpt-5",
                    schema="closed",
                    format_beside_tools=True,
                ),
            ),
            thinks_first=True,
        ),
        replace(
            OPENAI,
            kind="mistral",
            title="Mistral",
            default_url="https://api.mistral.ai",
            hint=HOSTED,
            keywords=frozenset(),
            # It refuses every field it does not know.
            codec=partial(
                OpenAICodec,
                dialect=OpenAIDialect(
                    renamed={"seed": "random_seed"},
                    asks_usage=False,
                    tool_choice=True,
                    parallel=True,
                    marks_prefix=True,
                ),
            ),
            thinks_first=True,
            images_in_results=True,
        ),
        replace(
            OPENAI,
            kind="gemini",
            title="Gemini",
            default_url="https://generativelanguage.googleapis.com/v1beta/openai",
            hint=HOSTED,
            keywords=frozenset(),
            codec=partial(
                OpenAICodec,
                dialect=OpenAIDialect(think="effort", tool_choice=True, signed=f"(?:models/)?{GEMINI_3}"),
            ),
            thinks_first=True,
        ),
        replace(
            OPENAI,
            kind="deepseek",
            title="DeepSeek",
            default_url="https://api.deepseek.com",
            hint=HOSTED,
            keywords=frozenset(),
            # A model that thinks needs thoughts in all messages of its history: V4 refuses a request without them, and
            # takes a space for those of earlier turns and of other models. One of them refuses tool_choice.
            # Replies may be any JSON object, but follow no schema.
            codec=partial(
                OpenAICodec, dialect=OpenAIDialect(thoughts="reasoning_content", needs_thoughts=True, schema="")
            ),
            constrains="",
        ),
        replace(
            OPENAI,
            kind="groq",
            title="Groq",
            default_url="https://api.groq.com/openai",
            hint=HOSTED,
            keywords=frozenset(),
            codec=partial(
                OpenAICodec, dialect=OpenAIDialect(think="effort", tool_choice=True, parallel=True, schema="closed")
            ),
            thinks_first=True,
        ),
    )
}

VERSIONED = re.compile(r"(?<!/)/v\d+[a-z0-9]*(?=/|$)")
LINE_BYTES = 2 * 1024 * 1024


def provider(kind: str) -> Provider:
    """Return the row of a kind. Raises ConfigError for an unknown kind."""
    try:
        return PROVIDERS[kind]
    except KeyError:
        known = ", ".join(PROVIDERS)
        raise ConfigError(f"There is no kind of server called {kind!r}; use one of {known}.") from None


def path_at(base_url: str, path: str) -> str:
    """Return the path under an address, without a second version if the address has one (`/v1beta/openai`)."""
    return path.removeprefix("/v1") if VERSIONED.search(base_url) else path


def codec(kind: str, line_bytes: int = LINE_BYTES) -> Codec:
    """Return a new codec for one reply of this kind of server; a line over `line_bytes` bytes fails the reply."""
    return provider(kind).codec(line_bytes)


@cache
def switches_thinking(kind: str) -> bool:
    """Return whether requests to this kind of server have a field for thinking on or off."""
    return codec(kind).switches_thinking


@cache
def honours_tool_choice(kind: str) -> bool:
    """Return whether this kind of server itself makes the model call a tool where that is required."""
    return codec(kind).honours_tool_choice


@cache
def takes_format_beside_tools(kind: str) -> bool:
    """Return whether a `response_format` beside native tools limits only words of a reply from this kind of server."""
    return codec(kind).takes_format_beside_tools
