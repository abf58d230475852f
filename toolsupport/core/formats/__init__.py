"""The formats in which models write calls as text, in order of preference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from toolsupport.core.formats import code_mode, hermes, python_variants
from toolsupport.core.formats.format import Format, Parser
from toolsupport.core.words import ToolSpec

_ALL = (hermes.FORMAT, *python_variants.FORMATS, code_mode.FORMAT)
FORMATS: Mapping[str, Format] = MappingProxyType({one.name: one for one in _ALL})


def parser(name: str, tools: Sequence[ToolSpec], *, thinking: bool = False) -> Parser:
    """A parser for one reply. `thinking`: the reply begins inside of the reasoning. Raises KeyError."""
    return FORMATS[name].parser(tools, thinking=thinking)


__all__ = ["FORMATS", "Format", "Parser", "parser"]
