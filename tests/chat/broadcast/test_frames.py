"""Every bad frame gets a typed error; every good one is read as it was meant."""

import dataclasses
import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.broadcast import client_frames, frames
from chat.broadcast.error_codes import ERRORS, FrameError
from chat.websocket.frame_parsing import parse
from tests.tables import every

GOOD = [
    ({"type": "message.send", "client_id": "c1", "text": "hi"}, client_frames.MessageSend("c1", "hi")),
    ({"type": "message.send", "client_id": "c1", "text": "hi", "parent": 7}, client_frames.MessageSend("c1", "hi", 7)),
    (
        {"type": "message.send", "client_id": "c1", "text": "hi", "attachments": ["images/a.png"]},
        client_frames.MessageSend("c1", "hi", None, ["images/a.png"]),
    ),
    ({"type": "model.select", "client_id": "c", "model": "12"}, client_frames.ModelSelect("c", "12")),
    ({"type": "tools.switch", "on": False}, client_frames.ToolsSwitch(False)),
    ({"type": "turn.stop"}, client_frames.TurnStop()),
    ({"type": "turn.continue"}, client_frames.TurnContinue()),
    ({"type": "turn.continue", "client_id": "c"}, client_frames.TurnContinue("c")),
    ({"type": "turn.regenerate", "message": 4}, client_frames.TurnRegenerate(4)),
    (
        {"type": "turn.regenerate", "message": 4, "mode": "without_tools", "model": "m", "client_id": "c"},
        client_frames.TurnRegenerate(4, "without_tools", "m", "c"),
    ),
    ({"type": "branch.select", "message": 4}, client_frames.BranchSelect(4)),
    ({"type": "turn.resync", "message": 3}, client_frames.TurnResync(3)),
    ({"type": "call.stop", "call": "9"}, client_frames.CallStop("9")),
    ({"type": "call.repeat", "call": "9", "client_id": "c"}, client_frames.CallRepeat("9", "c")),
    ({"type": "ping"}, client_frames.Ping()),
    ({"type": "turn.stop", "client_id": "c"}, client_frames.TurnStop("c")),
    ({"type": "tools.switch", "on": True, "client_id": "c"}, client_frames.ToolsSwitch(True, "c")),
]

BAD = [
    ("", "bad_frame"),
    ("{", "bad_frame"),
    ("[]", "bad_frame"),
    ("null", "bad_frame"),
    ("NaN", "bad_frame"),
    ("1e999", "bad_frame"),
    ('{"type": "ping", "x": Infinity}', "bad_frame"),
    ('{"type": "ping", "type": "ping"}', "bad_frame"),
    ('{"type": "ping", "x": "\\ud800"}', "bad_frame"),
    ('{"type": "message.send", "client_id": "c", "text": "a\\u0000b"}', "bad_frame"),
    ('{"type": "message.send", "client_id": "c", "text": "a", "attachments": ["\\u0000"]}', "bad_frame"),
    ('{"type": "ping", "extra": 1}', "bad_frame"),
    ("[" * 5000, "bad_frame"),
    ('{"a":' * 3000 + "1" + "}" * 3000, "bad_frame"),
    ('{"type": "turn.resync", "message": ' + "9" * 5000 + "}", "bad_frame"),
    ('{"type": "turn.resync", "message": true}', "bad_frame"),
    ('{"type": "turn.resync", "message": -1}', "bad_frame"),
    ('{"type": "turn.resync", "message": 1.5}', "bad_frame"),
    ('{"type": "tools.switch", "on": 1}', "bad_frame"),
    ('{"type": "message.send", "client_id": "c"}', "bad_frame"),
    ('{"type": "message.send", "client_id": "c", "text": ""}', "bad_frame"),
    ('{"type": "message.send", "client_id": "c", "text": " \\n"}', "bad_frame"),
    ('{"type": "message.send", "client_id": 5, "text": "x"}', "bad_frame"),
    ('{"type": "message.send", "client_id": "c", "text": ["x"]}', "bad_frame"),
    ('{"type": "message.send", "client_id": "c", "text": "x", "attachments": "a.png"}', "bad_frame"),
    ('{"type": "message.send", "client_id": "c", "text": "x", "attachments": [1]}', "bad_frame"),
    ('{"type": "turn.continue", "client_id": ""}', "bad_frame"),
    ('{"type": "turn.regenerate", "message": 4, "mode": "louder"}', "bad_frame"),
    ('{"type": "turn.regenerate", "message": 4, "mode": ["same"]}', "bad_frame"),
    ('{"type": "turn.regenerate", "mode": "same"}', "bad_frame"),
    ('{"type": "branch.select", "message": null}', "bad_frame"),
    ('{"type": "nothing.known"}', "unknown_type"),
    ('{"type": 7}', "unknown_type"),
    ('{"type": ["ping"]}', "unknown_type"),
    ("{}", "unknown_type"),
    (json.dumps({"type": "message.send", "client_id": "c", "text": "é" * 40_000}), "too_large"),
    (json.dumps({"type": "message.send", "client_id": "c" * 301, "text": "x"}), "too_large"),
    ('{"type": "ping"}'.ljust(256 * 1024 + 1), "too_large"),
    (b'{"type": "ping"}', "bad_frame"),
    (None, "bad_frame"),
]


@every("kind", client_frames.CLIENT_FRAMES)
def test_every_frame_may_carry_a_client_id(kind: str) -> None:
    assert "client_id" in {field.name for field in dataclasses.fields(client_frames.CLIENT_FRAMES[kind])}


@every(("frame", "expected"), GOOD)
def test_good_frames(frame: dict[str, object], expected: object) -> None:
    assert parse(json.dumps(frame)) == expected


@every(("text", "code"), BAD)
def test_bad_frames_get_a_typed_error(text: str | bytes | None, code: str) -> None:
    with pytest.raises(FrameError) as caught:
        parse(text)
    assert caught.value.code == code
    assert str(caught.value).endswith(".")


def test_the_largest_frame_is_read() -> None:
    assert parse('{"type": "ping"}'.ljust(256 * 1024)) == client_frames.Ping()


# The limits in figures that are not read from the code: 65,536 bytes of a text, 300 of a name.
@pytest.mark.parametrize(("field", "most"), [("text", 65_536), ("client_id", 300)])
def test_the_longest_text_is_read(field: str, most: int) -> None:
    frame = {"type": "message.send", "client_id": "c", "text": "hi"}
    assert getattr(parse(json.dumps(frame | {field: "é" * (most // 2)})), field) == "é" * (most // 2)
    with pytest.raises(FrameError) as refused:
        parse(json.dumps(frame | {field: "x" * (most + 1)}))
    assert refused.value.code == "too_large"


def test_an_error_names_the_act_it_answers() -> None:
    with pytest.raises(FrameError) as caught:
        parse('{"type": "message.send", "client_id": "c7", "text": 1}')
    assert caught.value.client_id == "c7"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(string.printable),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=12,
)


@given(st.one_of(st.text(), st.binary(), json_values.map(json.dumps)))
def test_nothing_but_a_frame_error_is_ever_raised(text: str | bytes) -> None:
    try:
        parse(text)
    except FrameError as error:
        assert error.code in ERRORS


fuzzed = st.fixed_dictionaries(
    {"type": st.sampled_from(sorted(client_frames.CLIENT_FRAMES))},
    optional={
        name: json_values for name in ("client_id", "text", "parent", "model", "on", "message", "call", "mode", "more")
    },
)


@given(fuzzed)
def test_fields_of_any_kind_are_checked(frame: dict[str, object]) -> None:
    try:
        read = parse(json.dumps(frame))
    except FrameError as error:
        assert error.code in ERRORS
    else:
        assert isinstance(read, client_frames.CLIENT_FRAMES[str(frame["type"])])


def test_server_frames_leave_out_what_is_not_there() -> None:
    assert json.loads(frames.ErrorFrame("busy", "Wait.").render()) == {"type": "error", "code": "busy", "text": "Wait."}
    first = json.loads(frames.MessageStartedFrame(1, 4, None, "user", 2, "").render())
    assert first["parent"] is None, "only what may be absent is left out"
    assert json.loads(frames.TextDeltaFrame(4, 0, "\u2028<").render()) == {
        "type": "text.delta",
        "message": 4,
        "offset": 0,
        "text": "\u2028<",
    }


def test_every_server_frame_stands_in_its_table() -> None:
    written = {
        value.type
        for value in vars(frames).values()
        if isinstance(value, type) and issubclass(value, frames.ServerFrame) and value is not frames.ServerFrame
    }
    assert written == frames.SERVER_FRAMES.keys()
