"""Builds the notice for pages while nothing can be saved."""

from __future__ import annotations

from chat.broadcast.frames import StorageFrame


def frame_of(reason: str) -> StorageFrame:
    """Return the frame for a reason why nothing can be saved, "" if everything can."""
    until = "there is room" if "full" in reason else "the problem is over"
    text = f"Cannot save right now: {reason}. Answers stay in memory and are saved once {until}."
    return StorageFrame(not reason, text if reason else "")
