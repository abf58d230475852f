"""Remembers handled frames, so that a frame sent twice is handled once."""

from __future__ import annotations

from collections import OrderedDict

from chat.broadcast import client_frames
from chat.broadcast.client_frames import ClientFrame

# Frames that store no row with their client_id; messages, regenerated answers and repeated calls do.
WITHOUT_ROW = (
    client_frames.ModelSelect,
    client_frames.ToolsSwitch,
    client_frames.TurnStop,
    client_frames.BranchSelect,
    client_frames.CallStop,
    client_frames.QuestionAnswer,
    client_frames.DetectionStart,
    client_frames.DetectionSkip,
    client_frames.DetectionCancel,
)
MOST = 10_000

_handled: OrderedDict[tuple[str, str], None] = OrderedDict()


def known(conversation: str, frame: ClientFrame) -> bool:
    """Return True if this process has handled the frame of this client_id."""
    return isinstance(frame, WITHOUT_ROW) and (conversation, frame.client_id) in _handled


def keep(conversation: str, frame: ClientFrame) -> None:
    """Remember a handled frame; the oldest are dropped."""
    if isinstance(frame, WITHOUT_ROW) and frame.client_id:
        _handled[conversation, frame.client_id] = None
        if len(_handled) > MOST:
            _handled.popitem(last=False)
