"""Definitions of other programs' tools: accepted parts, the form for models, and the form for people who approve."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tables import every
from toolsupport.core import remote_tools

OBJECT = {"type": "object"}
ODD_NUMBERS = (float("nan"), float("inf"), float("-inf"))


def tool(**parts: Any) -> dict[str, Any]:
    return {"name": "send", "inputSchema": OBJECT} | parts


@every(
    ("definition", "why"),
    [
        ("no object", "name is missing"),
        ({"inputSchema": OBJECT}, "name is missing"),
        (tool(name=""), "name is missing"),
        (tool(name="x" * 129), "name is missing"),
        (tool(name="in\u202evisible"), "name is missing"),
        (tool(name=" "), "name is missing"),
        (tool(name="a\nb"), "name is missing"),
        (tool(name="s\u0435nd"), "looks like send"),
        (tool(name="\u0441\u043e\u0440\u0443"), "looks like copy"),
        (tool(name="\uff53\uff45\uff4e\uff44"), "looks like send"),
        (tool(name="d\u03bf_\u0456t"), "looks like do_it"),
        (tool(name="发送"), ""),
        (tool(name="отправить"), ""),
        (tool(name="größe"), ""),
        ({"name": "send"}, "does not describe an object"),
        (tool(inputSchema={"type": "array"}), "does not describe an object"),
        (tool(inputSchema={"type": ["object", "array"]}), "does not describe an object"),
        (tool(inputSchema={"type": "OBJECT"}), ""),
        (tool(inputSchema={"type": "dict"}), ""),
        (tool(inputSchema={"type": None}), ""),
        (tool(inputSchema=OBJECT | {"required": True}), ""),
        (tool(description="x" * 40_000), "more than 32,768 characters"),
        (tool(description="\x00"), "cannot be stored"),
        (tool(description="\ud800"), "cannot be stored"),
        *((tool(inputSchema=OBJECT | {"default": {"a": odd}}), "no numbers in JSON") for odd in ODD_NUMBERS),
        (tool(inputSchema={"type": "object", "$defs": {}} | {"properties": {}}), ""),
        (tool(annotations={"readOnlyHint": True}, icons=[], unheard_of=1), ""),
        (tool(inputSchema=OBJECT | {"properties": {"a": {"type": "nonsense"}}}), "schema cannot be used"),
        (tool(inputSchema=OBJECT | {"properties": {"a": {"type": "string", "required": True}}}), ""),
        (tool(inputSchema=OBJECT | {"properties": {"a": {"minimum": 1, "exclusiveMinimum": True}}}), ""),
        (tool(inputSchema=OBJECT | {"properties": [], "required": {}}), ""),
    ],
)
def test_what_cannot_be_taken_says_why(definition: Any, why: str) -> None:
    said = remote_tools.why_not(definition)
    assert why in said if why else said == ""


def test_a_schema_without_end_is_left_out() -> None:
    deep: dict[str, Any] = {"type": "object"}
    for _ in range(200):
        deep = {"type": "object", "properties": {"inner": deep}}
    assert "levels deep" in remote_tools.why_not(tool(inputSchema=deep))


@every(
    ("schema", "sent"),
    [
        ({"properties": []}, {"properties": {}}),
        ({"required": {}}, {"required": []}),
        ({"properties": {"a": []}}, {"properties": {"a": {}}}),
        ({"properties": {"a": {"type": "array", "items": []}}}, {"properties": {"a": {"type": "array", "items": {}}}}),
        (
            {"properties": {"a": {"anyOf": [{"type": "object", "properties": []}]}}},
            {"properties": {"a": {"anyOf": [{"type": "object", "properties": {}}]}}},
        ),
        ({"properties": {"required": {}}}, {"properties": {"required": {}}}),
        (
            {"properties": {"a": {"default": {"properties": []}}}},
            {"properties": {"a": {"default": {"properties": []}}}},
        ),
    ],
)
def test_what_php_writes_for_nothing_is_sent_as_it_is_meant(schema: dict[str, Any], sent: dict[str, Any]) -> None:
    parameters = remote_tools.spec_of("box", tool(inputSchema=OBJECT | schema)).parameters
    assert parameters == {"properties": {}, "required": []} | OBJECT | sent


def test_a_name_that_stands_twice_is_taken_neither_time() -> None:
    taken, said = remote_tools.taken([tool(), tool(description="other"), tool(name="once")])
    assert list(taken) == ["once"]
    assert said == ("send was left out: there are several tools with that name.",)


def test_only_so_many_are_taken() -> None:
    taken, said = remote_tools.taken([tool(name=f"t{n}") for n in range(501)])
    assert len(taken) == 500 and "first 500" in said[0]


@pytest.mark.parametrize(
    "other",
    [
        tool(description="now it also deletes"),
        tool(annotations={"readOnlyHint": True}),
        tool(outputSchema=OBJECT),
        tool(unheard_of=1),
        tool(title="Send"),
    ],
)
def test_every_part_of_a_definition_is_pinned(other: dict[str, Any]) -> None:  # SAFETY 3.3
    assert remote_tools.digest(other) != remote_tools.digest(tool())


def test_the_order_of_parts_does_not_matter() -> None:
    assert remote_tools.digest({"name": "send", "inputSchema": OBJECT}) == remote_tools.digest(tool())


@pytest.mark.parametrize(
    ("server", "name", "called"),
    [
        ("mail", "send", "mail__send"),
        ("mail", "send.all", None),
        ("mail", "send all", None),
        ("mail", "x" * 70, None),
        ("mail", "é", None),
    ],
)
def test_a_name_is_one_that_model_servers_take(server: str, name: str, called: str | None) -> None:
    made = remote_tools.callable_name(server, name)
    assert called is None or made == called
    assert len(made) <= 64 and made.replace("_", "").replace("-", "").isalnum() and made.isascii()


def test_names_stay_apart() -> None:
    names = ["send.all", "send all", "send/all", "send_all", *("x" * 70 + str(n) for n in range(5))]
    assert len({remote_tools.callable_name("mail", name) for name in names}) == len(names)


def test_a_model_reads_a_bounded_description_without_hidden_letters() -> None:
    hidden = tool(description="Send it.\u200b\U000e0041\u202e" + "y" * 5000)
    spec = remote_tools.spec_of("mail", hidden)
    assert spec.description.startswith("Send it.yyy") and len(spec.description) == 1024
    assert spec.parameters == {"type": "object", "properties": {}, "required": []}


def test_whoever_approves_sees_what_is_hidden() -> None:
    before, after = tool(description="Send it."), tool(description="Send it.\u200b\U000e0041")
    diff = remote_tools.difference(before, after)
    assert '-  "description": "Send it."' in diff
    assert '+  "description": "Send it.\\u200b\\U000e0041"' in diff
    assert '+  "name": "send"' in remote_tools.difference({}, tool())
