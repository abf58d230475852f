"""Calls as Python."""

from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st

from toolsupport.simulator.languages import pythonic
from toolsupport.simulator.types import SimulatedCall

NOW = SimulatedCall("now", {})
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def test_each_family_has_its_markers() -> None:  # F1
    assert pythonic.plain([NOW, NOW]) == "[now(), now()]"
    assert pythonic.llama4([NOW]) == "<|python_start|>[now()]<|python_end|>"
    assert pythonic.lfm2([NOW]) == "<|tool_call_start|>[now()]<|tool_call_end|>"
    assert (
        pythonic.olmo3([NOW, SimulatedCall("f", {"a": True})])
        == "<function_calls>\nnow()\nf(a=true)\n</function_calls>"
    )
    assert pythonic.code([NOW]) == "```python\nprint(now())\n```"


@given(st.dictionaries(st.sampled_from(["path", "line_2", "a-b", "x y", "ä"]), JSONS))
def test_python_reads_every_call(arguments: dict[str, object]) -> None:
    read = ast.parse(pythonic.expression(SimulatedCall("f", arguments)), mode="eval").body
    assert isinstance(read, ast.Call)
    found = {word.arg: ast.literal_eval(word.value) for word in read.keywords if word.arg}
    odd = [ast.literal_eval(word.value) for word in read.keywords if not word.arg]
    assert {**found, **(odd[0] if odd else {})} == arguments
