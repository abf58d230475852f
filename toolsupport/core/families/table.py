"""The built-in family table, read once from table.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

CALL_FORMATS = frozenset(
    {
        "apertus",
        "command_r7b",
        "command_r_plus",
        "deepseek_dsml",
        "deepseek_v3",
        "deepseek_v31",
        "dots",
        "firefunction",
        "function_invocation",
        "functionary_v31",
        "functionary_v32",
        "functiongemma",
        "gemma4",
        "gigachat3",
        "gigachat35",
        "glm45",
        "glm4_name_newline_json",
        "granite",
        "granite_20b_fc",
        "harmony",
        "hermes",
        "hunyuan_a13b",
        "hy_v3",
        "internlm2",
        "jamba",
        "json_fence",
        "k2_horizon",
        "kimi_k2",
        "kimi_k3",
        "lfm2_pythonic",
        "llama3_json",
        "llama4_pythonic",
        "longcat",
        "minicpm5",
        "minimax_m2",
        "minimax_m3",
        "mistral_args",
        "mistral_json",
        "mistral_name_json",
        "muse_glimmer",
        "nemotron_toolcall",
        "nemotron_v2",
        "olmo3_pythonic",
        "phi4_mini",
        "pure_json",
        "python_tag_call",
        "pythonic",
        "qwen3_coder_xml",
        "seed_oss",
        "solar_open",
        "solar_open2",
        "step3",
        "tool_code_python",
        "xlam",
    }
)
PROMPT_STYLES = frozenset(
    {
        "agentic",
        "command-r",
        "functiongemma",
        "gemma4",
        "harmony",
        "hermes",
        "llama",
        "prompted",
        "pythonic",
        "standard",
        "xml",
    }
)
MULTI_TURN = frozenset({"poor", "good", "excellent"})


@dataclass(frozen=True, slots=True)
class FamilyProfile:
    """The facts about a model family, before any test. None means unknown, also if variants differ.

    `patterns` are names in one spelling (name_words.py normalises others); a name with a word in `excepted` does not
    match.
    `call_format` is the format that the family was trained on, which does not prove that a text format works. `refuses`
    names tools. `begins_inside`: the template's prompt ends in the mark that opens reasoning; a list has the words of
    a name to which that applies. `context` is in tokens, `parsers` maps a server to its parser, `unverified` names
    fields without a source.
    """

    name: str
    patterns: tuple[str, ...]
    sources: tuple[str, ...]
    excepted: frozenset[str] = frozenset()
    tools: bool | None = None
    call_format: str | None = None
    alternatives: tuple[str, ...] = ()
    parallel: bool | None = None
    streaming_calls: bool | None = None
    prompt_style: str | None = None
    multi_turn: str | None = None
    max_tools: int | None = None
    refuses: tuple[str, ...] = ()
    thinking: bool | None = None
    vision: bool | None = None
    begins_inside: bool | tuple[str, ...] | None = None
    context: int | None = None
    sizes: tuple[str, ...] = ()
    parsers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    unverified: tuple[str, ...] = ()
    notes: str = ""


def _family(row: Mapping[str, Any]) -> FamilyProfile:
    excepted = frozenset(row.get("except", ()))
    fields = {key: _frozen(value) for key, value in row.items() if key != "except"}
    return FamilyProfile(excepted=excepted, **fields)


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return MappingProxyType(value) if isinstance(value, dict) else value


_TABLE = tomllib.loads(Path(__file__).with_name("table.toml").read_text(encoding="utf-8"))

VERSION: int = _TABLE["version"]
FAMILIES: tuple[FamilyProfile, ...] = tuple(_family(row) for row in _TABLE["family"])
