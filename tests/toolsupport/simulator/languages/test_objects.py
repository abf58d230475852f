"""Calls as JSON objects."""

from __future__ import annotations

import json
import re

from toolsupport.simulator.languages import objects
from toolsupport.simulator.types import SimulatedCall

READ = SimulatedCall("read_file", {"path": "a\n.txt"})
NOW = SimulatedCall("now", {})


def test_hermes() -> None:  # F1
    assert objects.hermes([READ]) == (
        '<tool_call>\n{"name": "read_file", "arguments": {"path": "a\\n.txt"}}\n</tool_call>'
    )
    assert objects.hermes([READ, NOW]).count("<tool_call>") == 2


def test_mistrals_array_has_an_id_of_nine_characters_for_each_call() -> None:
    listed = json.loads(objects.mistral([READ, READ, NOW]).removeprefix("[TOOL_CALLS]"))
    ids = {call["id"] for call in listed}
    assert len(ids) == 3
    assert all(re.fullmatch(r"[A-Za-z0-9]{9}", found) for found in ids)
    assert objects.mistral([READ]) == objects.mistral([READ])


def test_mistrals_compact_form() -> None:
    assert objects.mistral_args([READ, NOW]) == (
        '[TOOL_CALLS]read_file[ARGS]{"path": "a\\n.txt"}[TOOL_CALLS]now[ARGS]{}'
    )


def test_plain_json_is_an_object_or_an_array() -> None:
    assert objects.plain([NOW]) == '{"name": "now", "arguments": {}}'
    assert [call["name"] for call in json.loads(objects.plain([READ, NOW]))] == ["read_file", "now"]


def test_llama_3() -> None:
    assert objects.llama3([NOW, NOW]) == (
        '<|python_tag|>{"name": "now", "parameters": {}}; {"name": "now", "parameters": {}}'
    )
