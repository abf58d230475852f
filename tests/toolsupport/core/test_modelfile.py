"""The settings of a Modelfile are read from the text that Ollama shows; the rest of it is ignored."""

from __future__ import annotations

from typing import Any

from tests.tables import every
from toolsupport.core import modelfile


@every(
    ("parameters", "found"),
    [
        (
            "num_ctx                        16384\ntemperature                    0.7",
            {"num_ctx": 16384, "temperature": 0.7},
        ),
        ('stop                           "<|im_end|>"\nnum_ctx 4096\r\n', {"num_ctx": 4096}),
        ("temperature 0", {"temperature": 0.0}),
        ("temperature 1", {"temperature": 1.0}),
        ("", {}),
        ("num_ctx", {}),
        ("num_ctx many\ntemperature hot", {}),
        ("num_ctx 0\ntemperature 7", {}),
        ("num_ctx 1.5\nmy_num_ctx 4096", {}),
        ("num_ctx " + "9" * 400, {}),
        (" " * 100_000, {}),
    ],
)
def test_parameters(parameters: str, found: dict[str, Any]) -> None:
    assert modelfile.settings("", parameters) == found


def test_the_system_prompt_is_kept_as_it_is_written_up_to_a_limit() -> None:
    assert modelfile.settings("You are Ada.\n", "") == {"system": "You are Ada.\n"}
    assert modelfile.settings(" \n", "") == {}
    assert len(modelfile.settings("x" * 1_000_000, "")["system"]) == modelfile.LONGEST_SYSTEM
