"""Which names of models, servers and tools are taken, and what is wrong with the others."""

from __future__ import annotations

from tests.tables import every
from toolsupport.core.name_checks import path_problem, problem

REAL = (
    *("qwen3:8b", "hf.co/bartowski/Llama-3.2-1B-Instruct-GGUF:Q4_K_M", "meta-llama/Llama-3.1-8B", "gpt-4o-2024-08-06"),
    *(
        "granite3.2",
        "my model",
        "qwen3:8b-q4_K_M",
        "模型",
        "modèle-é",
        "o'neil",
        "a..b",
        "v1.",
        ".hidden",
        "x@1",
        "c:8b",
    ),
    *("accounts/fireworks/models/llama-v3p1", "@cf/meta/llama-3", "google/gemma-3-27b-it:free", "team~1", "naïve🙂"),
)


@every("name", REAL)
def test_real_names_are_taken(name: str) -> None:
    assert (problem(name), path_problem(name)) == ("", "")


@every(
    "name, words",
    [
        *((blank, "is blank") for blank in ("", " ", "   ", "\u00a0", "\u2003", "\u3000", "\u2800", " \u2800 ")),
        *((f"a{sign}b", f"U+{ord(sign):04X}") for sign in "\0\a\t\n\r\x1b\x7f\x85\u2028\u2029\ud800"),
        *((f"a{sign}b", f"U+{ord(sign):04X}") for sign in "\u061c\u200e\u200f\u202a\u202e\u2066\u2069"),
        *((f"a{sign}b", f"U+{ord(sign):04X}") for sign in "\u00ad\u200b\u200d\u2060\ufeff\u3164\U000e0041"),
        ("\n", "U+000A"),
        (" qwen3", "a space"),
        ("qwen3 ", "a space"),
    ],
)
def test_names_that_people_could_not_see_are_not_taken(name: str, words: str) -> None:
    assert words in problem(name)


@every(
    "name",
    [
        *(
            "/etc/passwd",
            "/",
            "../../etc/passwd",
            "..",
            ".",
            "./model",
            "a/../../b",
            "a/..",
            "a/./b",
            "~/models",
            "~root/x",
        ),
        *(r"C:\models\a.gguf", "C:/models/a.gguf", r"..\..\a", r"a\b", r"\\host\share", "file:///etc/passwd"),
        *("http://box/model", "//host/share"),
    ],
)
def test_a_path_is_not_taken_for_a_name(name: str) -> None:
    assert path_problem(name) == "is a path"
