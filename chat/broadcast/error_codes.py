"""Defines the closed list of error codes for frames."""

from __future__ import annotations

ERRORS = {
    "bad_frame": "the frame is not a JSON object of a known shape",
    "unknown_type": "there is no frame of this type",
    "too_large": "a text or a frame is larger than the limit",
    "rate_limited": "more frames came than a person can send",
    "not_found": "it does not exist, or is not yours",
    "forbidden": "you may not do this",
    "busy": "a limit was reached; nothing was queued",
    "conflict": "somebody else was faster, or it is too late",
    "bad_answer": "the question does not take this answer",
    "not_configured": "something has to be set first, such as a model",
    "storage": "the database cannot be used at the moment (full, locked, read-only); nothing was changed",
    "internal": "the server failed; nothing was changed",
}


class FrameError(Exception):
    """A frame that is rejected. `code` is a key of ERRORS, the text is for people."""

    def __init__(self, code: str, text: str, client_id: str = "") -> None:
        super().__init__(text)
        self.code = code
        self.client_id = client_id
