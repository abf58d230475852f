"""The setting that a server needs for tools is named with the parser of the model's family."""

from __future__ import annotations

from tests.tables import every
from toolsupport.core import families, server_flags

AUTO = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
JINJA = "tools param requires --jinja flag"


@every(
    ("kind", "model", "words", "rule", "flag"),
    [
        ("vllm", "Qwen/Qwen3-8B", AUTO, "flag", "--enable-auto-tool-choice --tool-call-parser hermes"),
        ("vllm", "qwen3-coder:30b", AUTO, "flag", "--enable-auto-tool-choice --tool-call-parser qwen3_xml"),
        ("vllm", "mystery", AUTO, "flag", "--enable-auto-tool-choice --tool-call-parser NAME"),
        ("openai", "Qwen/Qwen3-8B", AUTO, "flag", "--enable-auto-tool-choice --tool-call-parser hermes"),
        ("openai", "mystery", AUTO, "flag", "--enable-auto-tool-choice --tool-call-parser"),
        ("sglang", "gpt-oss:20b", "Please set a tool call parser.", "flag", "--tool-call-parser gpt-oss"),
        ("sglang", "gemma4:26b", "tool_call_parser is not set", "flag", "--tool-call-parser gemma4"),
        ("llamacpp", "qwen3:8b", JINJA, "flag", "--jinja"),
        ("openai", "mystery", JINJA, "flag", "--jinja"),
        ("llamacpp", "mystery", "Unsupported param: tools", "old-server", "--jinja"),
        (
            "vllm",
            "qwen3:8b",
            "Streaming is not supported with tools",
            "stream",
            "Streaming is not supported with tools",
        ),
        ("openai", "mystery", "Tools need --some-flag", "flag", "--some-flag"),
        ("vllm", "qwen3:8b", "Tools need --some-flag", "flag", "--some-flag"),
        ("ollama", "mystery", "", "template", ""),
    ],
)
def test_the_exact_setting(kind: str, model: str, words: str, rule: str, flag: str) -> None:
    family = families.find(model)
    assert server_flags.needed(words, rule, kind, family.parsers if family else {}) == flag


def test_every_parser_of_the_table_is_one_word() -> None:
    for family in families.FAMILIES:
        for kind in server_flags.LEAVE_IN_TEXT & set(family.parsers):
            name = server_flags.parser_of(kind, family.parsers)
            assert name and " " not in name and family.parsers[kind].startswith(name), family.name


def test_llama_server_leaves_no_call_in_the_text_for_want_of_a_flag() -> None:
    for kind in ("llamacpp", "ollama", "lmstudio", "openai"):
        assert server_flags.left_in_text(kind, "hermes", {}) == "", kind
    qwen = {"vllm": "hermes / qwen3_json"}
    assert server_flags.left_in_text("vllm", "hermes", qwen).endswith("--tool-call-parser hermes")
    assert (
        server_flags.left_in_text("vllm", "", qwen) == server_flags.left_in_text("vllm", "tool_code_python", qwen) == ""
    )


def test_one_sentence_shows_the_setting_as_code() -> None:
    assert server_flags.sentence("--jinja") == "The server needs a setting for tools: `--jinja`."
    assert server_flags.sentence("`a`").count("`") == 2


def test_no_family_refuses_tools_that_nobody_measured() -> None:
    claims = {family.name for family in families.FAMILIES if family.refuses and not family.name.startswith("sim-")}
    assert claims == set()


def test_limits_of_families_have_a_source_or_say_that_they_have_none() -> None:
    sourced = {"deepseek-chat", "deepseek-reasoner"}
    for family in families.FAMILIES:
        if family.name not in sourced and not family.name.startswith("sim-"):
            assert family.max_tools is None or "max_tools" in family.unverified, family.name
            assert family.multi_turn is None or "multi_turn" in family.unverified, family.name


def test_deepseek_chat_has_its_known_limits() -> None:
    family = families.find("deepseek-chat")
    assert family is not None and (family.max_tools, family.vision) == (128, False)
