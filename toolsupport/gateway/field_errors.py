"""Defines the error for a wrong field of a request."""

from __future__ import annotations

from toolsupport.core.errors import ToolsupportError


class InvalidField(ToolsupportError):
    """The request is wrong; `param` names the field, "" means the whole body."""

    def __init__(self, message: str, param: str = "") -> None:
        super().__init__(message)
        self.param = param
