"""Defines the errors for requests that are wrong or too large."""

from __future__ import annotations

from toolsupport.core.errors import ToolsupportError


class InvalidField(ToolsupportError):
    """The request is wrong; `param` names the field, "" means the whole body."""

    def __init__(self, message: str, param: str = "") -> None:
        super().__init__(message)
        self.param = param


class ToolChoiceNotMet(InvalidField):
    """A call is required of a model that cannot be given the tools."""


class UntestedModel(ToolsupportError):
    """The team refuses tools for models that were never tested."""


class TooLarge(ToolsupportError):
    """The body exceeds the limit."""
