"""The formats that write a name and pairs of tags: GLM, LongCat, Hunyuan 3 and K2 Horizon."""

from __future__ import annotations

from toolsupport.core.formats import tool_call_reader
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.key_value_tags import HY_SUFFIXES, PairTagSet
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.formats.writing import write_results
from toolsupport.core.scanner import Steps

GLM = PairTagSet()
LONGCAT = PairTagSet(prefix="longcat_")
HY = PairTagSet(suffixes=HY_SUFFIXES, separator="tool_sep", wrapper="tool_calls")
K2 = PairTagSet(prefix="ifm|", wrapper="tool_calls")
MARK = GLM.opens[0]


def _format(name: str, label: str, pairs: PairTagSet) -> Format:
    def read(reading: ReaderContext, opener: str) -> Steps[None]:
        """Read a call in pairs; after the plain mark the forms of other models may follow as well."""
        character = (yield from reading.source.space()) if opener == MARK else ""
        if character == "<":
            yield from tool_call_reader.read(reading, opener)
        elif character and character not in "{[" and pairs is GLM:
            yield from tool_call_reader.read_named(reading, pairs)
        else:
            yield from pairs.read(reading, opener)

    grammar = Grammar(dict.fromkeys(pairs.openers_of_calls, read))
    return Format(name, label, grammar.parser, pairs.instructions, pairs.write_calls, write_results)


FORMATS = (
    _format("glm45", "GLM 4.5", GLM),
    _format("longcat", "LongCat", LONGCAT),
    _format("hy_v3", "Hunyuan 3", HY),
    _format("k2_horizon", "K2 Horizon", K2),
)
