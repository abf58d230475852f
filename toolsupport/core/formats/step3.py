"""Step 3: invoke tags between marks like those of DeepSeek, a pair of marks for each call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolsupport.core.formats import deepseek
from toolsupport.core.formats.deepseek import BEGIN, CALL, CALL_END, END, KIND, spellings
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.named_json import NamedCalls
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.formats.tag_calls import TaggedCalls
from toolsupport.core.formats.writing import write_results
from toolsupport.core.formats.xml_dialects import XmlDialect, invoke
from toolsupport.core.scanner import Steps
from toolsupport.core.types import ToolCall

STEPTML = invoke("steptml:function_calls", "steptml:").tags
BREAKS = ("", "\n")
# The mark of a call and its tag are one opener, and so are what closes them: each spelling, with a break or without.
TAGS = replace(
    STEPTML,
    functions=(
        *(
            f"{mark}{between}{tag}"
            for mark in spellings(CALL + KIND)
            for between in BREAKS
            for tag in STEPTML.functions
        ),
        *STEPTML.functions,
    ),
    function_ends=(
        *(
            f"{tag}{between}{mark}"
            for mark in spellings(CALL_END)
            for between in BREAKS
            for tag in STEPTML.function_ends
        ),
        *STEPTML.function_ends,
    ),
    wrappers=(*spellings(BEGIN), *STEPTML.wrappers),
    wrapper_ends=(*spellings(END), *STEPTML.wrapper_ends),
)


def read(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read the text after a mark of DeepSeek: a name and JSON, or tags."""
    source = reading.source
    yield from NamedCalls(reading, deepseek.MARKS).read(opener)
    if source.recorded:  # no call was emitted: the consumed text is still in the record
        source.back_to(0 if opener in deepseek.MARKS.opens else len(opener))
        if not source.recorded:
            yield from _from_its_mark(reading, opener)
            return
        yield from source.repeated(opener)
        yield from TaggedCalls(reading, TAGS, bare=False).read()


def _from_its_mark(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read tags with the mark before them; consume a mark without tags, or it would be found again for ever."""
    source = reading.source
    if (yield from source.marker(TAGS.openings)):
        yield from TaggedCalls(reading, TAGS, bare=False).read()
    else:
        source.take(source.at + len(opener))


@dataclass(frozen=True)
class Step3Marks(XmlDialect):
    """Its own marks, written without the underscores of DeepSeek."""

    def write_calls(self, calls: Sequence[ToolCall]) -> str:
        begin, call, call_end, end = (mark.replace("▁", "_") for mark in (BEGIN, CALL + KIND, CALL_END, END))
        tags = [replace(self, tags=STEPTML)._written(one) for one in calls]
        return "\n".join([begin, *(f"{call}{one}{call_end}" for one in tags), end]) if calls else ""

    @property
    def grammar(self) -> Grammar:
        marks = dict.fromkeys((*deepseek.MARKS.block_opens, *deepseek.MARKS.opens), read)
        return Grammar({**dict.fromkeys((*STEPTML.wrappers, *STEPTML.functions), self.read), **marks})


STEP = Step3Marks(TAGS)
FORMAT = Format("step3", "Step 3", STEP.grammar.parser, STEP.instructions, STEP.write_calls, write_results)
