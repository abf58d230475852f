"""Parses client frames, with typed errors."""

from __future__ import annotations

import dataclasses
from typing import Any, get_args

from chat.broadcast.client_frames import CLIENT_FRAMES, FRAME_LIMIT, TEXT_LIMIT, ClientFrame, Mode
from chat.broadcast.error_codes import FrameError
from toolsupport.core import sanitize, strict_json

# Fields with long texts; every other text is a name or an id.
LONG_FIELDS = {"text": TEXT_LIMIT}
SHORT = 300
UNSTORABLE = "The text holds a NUL character (U+0000), which cannot be stored. Remove it, and send it again."
MOST = 100  # entries of a list


def parse(text: str | bytes | None) -> ClientFrame:
    """Read one client frame. Raises FrameError, whatever the bytes are."""
    if not isinstance(text, str):
        raise FrameError("bad_frame", "Frames are JSON text, not binary.")
    if len(text) > FRAME_LIMIT:
        raise FrameError("too_large", f"A frame can have up to {FRAME_LIMIT // 1024} KiB.")
    frame = _object(text)
    client_id = frame.get("client_id")
    client_id = client_id if isinstance(client_id, str) and len(client_id) <= SHORT else ""
    kind = frame.pop("type", None)
    if not sanitize.is_storable(frame):
        raise FrameError("bad_frame", UNSTORABLE, client_id)
    shape = CLIENT_FRAMES.get(kind) if isinstance(kind, str) else None
    if shape is None:
        raise FrameError("unknown_type", "There is no frame of this type.", client_id)
    try:
        return shape(**_fields(shape, frame))
    except FrameError as error:
        raise FrameError(error.code, str(error), client_id) from error


def _object(text: str) -> dict[str, Any]:
    """Return the JSON object in a text."""
    try:
        value = strict_json.read(text)
    except ValueError as error:
        raise FrameError("bad_frame", "The frame is not valid JSON.") from error
    if not isinstance(value, dict):
        raise FrameError("bad_frame", "A frame is a JSON object.")
    return value


FIELDS: dict[Any, dict[str, dataclasses.Field[Any]]] = {
    shape: {field.name: field for field in dataclasses.fields(shape)} for shape in CLIENT_FRAMES.values()
}


def _fields(shape: type[ClientFrame], frame: dict[str, Any]) -> dict[str, Any]:
    known = FIELDS[shape]
    strangers = frame.keys() - known.keys()
    if strangers:
        raise FrameError("bad_frame", "The frame has fields that do not belong to it.")
    for name, field in known.items():
        if name in frame:
            _check(name, str(field.type), frame[name])
        elif field.default is dataclasses.MISSING:
            raise FrameError("bad_frame", f"The frame lacks {name!r}.")
    return frame


def _short_texts(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= MOST and all(isinstance(one, str) and one for one in value)


# Annotation of a field → the accepted types; a boolean is not a number here.
CHECKS: dict[str, Any] = {
    "str": lambda value: isinstance(value, str) and not value.isspace() and value != "",
    "bool": lambda value: isinstance(value, bool),
    "str | None": lambda value: value is None or (isinstance(value, str) and value != ""),
    "Mode": lambda value: value in get_args(Mode),
    "int": lambda value: type(value) is int and 0 <= value < 2**53,
    "dict[str, Any] | None": lambda value: value is None or isinstance(value, dict),
    "list[str] | None": lambda value: value is None or _short_texts(value),
    "int | None": lambda value: value is None or (type(value) is int and 0 <= value < 2**53),
}


def _check(name: str, wanted: str, value: Any) -> None:
    if not CHECKS[wanted](value):
        raise FrameError("bad_frame", f"{name!r} must be {wanted}.")
    most = LONG_FIELDS.get(name, SHORT)
    if isinstance(value, str) and len(value.encode()) > most:
        raise FrameError("too_large", f"{name!r} may have {most:,} bytes at most.")
