"""NaN, infinities and numbers beyond a double are no JSON: no format makes a value of them that was not written."""

from __future__ import annotations

import pytest

from tests.tables import every
from tests.toolsupport.core.formats.cases.case import tool
from toolsupport.core import formats
from toolsupport.core.call_validation import check
from toolsupport.core.events import CallFound, CallReady, CallRejected
from toolsupport.core.formats import FORMATS
from toolsupport.core.json_repair import ODD_NUMBERS, hint, read_json
from toolsupport.core.types import JSON, ToolCall

PLACE = 12345
ODD = ("NaN", "Infinity", "-Infinity", "1e999", "-1e400", "[1, 1e999]", '{"b": NaN}')
WANTED: dict[str, JSON] = {"a number": {"type": "number"}, "a text": {"type": "string"}, "anything": {}}


def outcome(name: str, written: str, wanted: JSON) -> CallReady | CallRejected:
    """Return the arguments, or the refusal, of a call of this format with this value."""
    offered = (tool("note", a=wanted),)
    reply = FORMATS[name].write_calls([ToolCall("", "note", {"a": PLACE})]).replace(str(PLACE), written)
    parser = formats.parser(name, offered)
    events = parser.feed(reply) + parser.flush()
    [made] = [event for event in events if isinstance(event, CallReady | CallRejected | CallFound)]
    return made if isinstance(made, CallRejected) else check(made.call, offered)


@pytest.mark.parametrize("wanted", WANTED)
@every("name", sorted(set(FORMATS) - {"code_mode"}))
def test_no_call_has_such_a_number(name: str, wanted: str) -> None:
    """`1e999` reached a tool as the text "Infinity", and a database as null."""
    for written in ODD:
        made = outcome(name, written, WANTED[wanted])
        if isinstance(made, CallReady):  # a format whose values are texts
            assert made.call.arguments == {"a": written} and wanted != "a number", written


@every(
    ("text", "is_odd"),
    [
        ('{"x": NaN}', True),
        ('{"x": -Infinity }', True),
        ('{"x": [1,nan]}', True),
        ('{"x": 1.5e309}', True),
        ('{"x": "NaN"}', False),
        ('{"x": "a: NaN"}', False),
        ("NaN", False),
        ('{"x": 1e100}', False),
        ('{"x": 1e+1000}', True),
        ('{"x": information}', False),
    ],
)
def test_the_reason_names_them(text: str, is_odd: bool) -> None:
    assert hint(text) == (ODD_NUMBERS if is_odd else "")
    assert not (is_odd and read_json(text))
    assert not is_odd or outcome("hermes", text, {}).reason.endswith(ODD_NUMBERS)  # type: ignore[union-attr]
