"""Defines the closed list of error codes for frames."""

from __future__ import annotations

ERRORS = {
    "bad_frame": "the frame is not valid JSON, or has the wrong fields",
    "unknown_type": "this type of frame does not exist",
    "too_large": "a text or a frame is larger than the limit",
    "rate_limited": "too many frames in a short time",
    "not_found": "it does not exist, or is not yours",
    "forbidden": "your role does not allow this",
    "busy": "a limit was reached; nothing was queued",
    "quota": "a quota of the person is used up; nothing was stored",
    "conflict": "another person was faster, or it is too late",
    "bad_answer": "this is not one of the possible answers",
    "not_configured": "a setting is missing, such as the model",
    "storage": "the database cannot be written now (full, locked or read-only); nothing was changed",
    "internal": "the server failed; nothing was changed",
}


class FrameError(Exception):
    """A frame that is rejected. `code` is a key of ERRORS, the text is for people."""

    def __init__(self, code: str, text: str, client_id: str = "") -> None:
        super().__init__(text)
        self.code = code
        self.client_id = client_id
