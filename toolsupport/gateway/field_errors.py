"""What is wrong with a request, and where."""

from __future__ import annotations

from toolsupport.core.errors import ToolsupportError


class InvalidField(ToolsupportError):
    """The program is at fault; `param` names the field, "" means the whole body."""

    def __init__(self, message: str, param: str = "") -> None:
        super().__init__(message)
        self.param = param
