"""Splits the name of a model, in any spelling, into one normal list of words."""

from __future__ import annotations

import re

# Between a name and its tag; the tag describes how a model was packed, not what it is.
TAG = ":"

# Stands in a pattern for any one word that names a size, such as 8b.
ANY_SIZE = "{size}"

_SIZE = re.compile(r"\d+(?:\.\d+)?[bmt]|\d+x\d+(?:\.\d+)?b|[ae]\d+(?:\.\d+)?b|\d+e")
_DATE = re.compile(r"20\d{6}|2\d(?:0[1-9]|1[0-2])|(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])|\d{3}|\d+k")
_SPLIT_DATE = re.compile(
    r"(?<![a-z0-9.])(?:20\d\d-\d\d-\d\d|\d\d-20\d\d|(?:0[1-9]|1[0-2])-(?:[0-2]\d|3[01]))(?![a-z0-9.])"
)
_FILE = re.compile(r"(?:-\d{5}-of-\d{5})?\.(?:gguf|ggml|safetensors|bin)$")
_QUANTISED = re.compile(r"(?:^|[-_.])(?:i1-|ud-)?[it]?q\d+(?:f\d+)?(?:_[a-z0-9]+)*(?=$|[-_.])")
# A release before version 1 on Bedrock, whose own revisions begin at v1:0: mistral-7b-instruct-v0:2.
_HOSTED_RELEASE = re.compile(r"-v0:(\d+)$")
# Bedrock's revisions, the beginning of OpenAI's fine-tuned models, and Fireworks' spelling: llama-v3p3-70b.
_HOSTED_REVISION = re.compile(r"-v?\d+:\d+$")
_FINE_TUNED = re.compile(r"^ft:([^:]+):.*")
_POINT = re.compile(r"(?:(?<=llama-)v)?(\d)p(\d+)(?![a-z0-9])")
_VENDOR = re.compile(
    r"^(?:(?:ai21labs|allenai|bytedance-seed|cohereforai|coherelabs|deepcogito|deepseek-ai|google|huggingfacetb"
    r"|ibm-granite|internlm|liquidai|meta-llama|microsoft|minimaxai|mistralai|moonshotai|nousresearch|nvidia|openai|qwen"
    r"|salesforce|stepfun-ai|swiss-ai|tencent|thudm|zai-org)_"
    r"|(?:ai21|c4ai|cohere|databricks|ibm|meta|mistralai|nvidia|openai|zai)-"
    r"|(?:us|eu|apac|global|ai21|amazon|anthropic|cohere|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai"
    r"|qwen|writer|zai)\.)+"
)
_BREAK = re.compile(r"[-_:\s]+|(?<!\d)\.|\.(?!\d)")
_NUMBERED = re.compile(r"([a-z]{2,})(\d+(?:\.\d+)*)")

_PACKING = frozenset(
    {
        "4bit",
        "5bit",
        "6bit",
        "8bit",
        "awq",
        "bf16",
        "bnb",
        "dwq",
        "dynamic",
        "exl2",
        "exl3",
        "f16",
        "f32",
        "fp16",
        "fp32",
        "fp4",
        "fp8",
        "ggml",
        "gguf",
        "gptq",
        "hqq",
        "i1",
        "imatrix",
        "int4",
        "int8",
        "mlc",
        "mlx",
        "mxfp4",
        "nvfp4",
        "onnx",
        "qat",
        "quantized",
        "ud",
        "unsloth",
        "w4a16",
        "w8a16",
        "w8a8",
    }
)
_SAME_MODEL = frozenset(
    {
        "abliterated",
        "beta",
        "chat",
        "cloud",
        "exp",
        "experimental",
        "free",
        "heretic",
        "hf",
        "instruct",
        "instruction",
        "it",
        "latest",
        "nothink",
        "preview",
        "text",
        "think",
        "thinking",
        "uncensored",
    }
)
_OTHER_KIND = frozenset(
    {
        "asr",
        "audio",
        "base",
        "classifier",
        "code",
        "coder",
        "embed",
        "embedding",
        "embeddings",
        "guard",
        "guardian",
        "image",
        "live",
        "math",
        "moderation",
        "ocr",
        "omni",
        "prm",
        "realtime",
        "rerank",
        "reranker",
        "reward",
        "rm",
        "safeguard",
        "search",
        "speech",
        "transcribe",
        "translate",
        "tts",
        "vision",
        "vl",
    }
)

_CALLS = frozenset({"calling", "fc", "function", "functions", "tool", "tools"})


def words(model_id: str) -> tuple[str, ...]:
    """Return the words of a model id in lower case: `hf.co/Qwen/Qwen3-8B-GGUF:Q4_K_M` is `("qwen", "3", "8b")`.

    Hosts, owners, file extensions and quantisations are removed; the rest of a tag follows the word `TAG`.
    """
    last = model_id.strip().lower().replace("\\", "/").rstrip("/").rpartition("/")[2]
    released = _HOSTED_RELEASE.sub(r"-v0.\1", last.partition("@")[0])
    bare = _FINE_TUNED.sub(r"\1", _HOSTED_REVISION.sub("", released))
    name, _, tag = _POINT.sub(r"\1.\2", bare).partition(":")
    tagged = _split(tag)
    packed = _QUANTISED.sub("", _FILE.sub("", name))  # mistral.Q8_0.gguf: the part before the point is no vendor
    own = _split(_VENDOR.sub("", packed))
    return own if tagged in ((), ("latest",)) else (*own, TAG, *tagged)


def pattern_words(pattern: str) -> tuple[str, ...]:
    """Return the words of a pattern of the table, in which `{size}` matches any size."""
    stem, size, tail = pattern.partition(ANY_SIZE)
    return (*words(stem), size, *words(tail)) if size else words(pattern)


def same_model(rest: tuple[str, ...]) -> bool:
    """Return True if the words after a family's name still describe that family.

    Before the size only dates and words such as `instruct` may follow; after it a variant may have any name
    (`qwen3-8b-heretic`), unless it names another kind of model (`vision`, `embedding`).
    """
    own = rest[: rest.index(TAG)] if TAG in rest else rest
    if not _OTHER_KIND.isdisjoint(own):
        return False
    sized = next((place for place, word in enumerate(own) if is_size(word)), len(own))
    return all(word in _SAME_MODEL or _DATE.fullmatch(word) for word in own[:sized])


def trained_for_calls(rest: tuple[str, ...]) -> bool:
    """Return True if the words after a family's name describe a model trained to call tools."""
    return not _CALLS.isdisjoint(rest)


def is_size(word: str) -> bool:
    """Return True for 8b, 0.5b, 8x7b, a3b (active), e4b (effective), 16e (experts), 270m, 1t."""
    return _SIZE.fullmatch(word) is not None


def _split(text: str) -> tuple[str, ...]:
    plain = _SPLIT_DATE.sub("", _QUANTISED.sub("", text))
    return tuple(part for word in _BREAK.split(plain) if word and word not in _PACKING for part in _numbered(word))


def _numbered(word: str) -> tuple[str, ...]:
    """Normalise numbers: `qwen3` and `qwen-3` are one spelling, as are 4 and 4.0; `gemma3n` stays whole."""
    found = _NUMBERED.fullmatch(word)
    parts = found.groups() if found else (word,)
    return tuple(part.removesuffix(".0") for part in parts)
