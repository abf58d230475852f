"""Reads the text after <tool_call>: Hermes' JSON, Qwen3-Coder's tags, or a name with GLM's pairs.

Models confuse the three, so all formats with this mark read all of them; what stands after the mark decides.
"""

from __future__ import annotations

import re
from dataclasses import replace

from toolsupport.core.formats import pythonic
from toolsupport.core.formats.json_calls import JsonCalls
from toolsupport.core.formats.key_value_tags import HY_SUFFIXES, PairTagSet
from toolsupport.core.formats.lookahead import match
from toolsupport.core.formats.named_json import NamedCalls, NamedMarks
from toolsupport.core.formats.reply_parser import ReaderContext
from toolsupport.core.formats.tag_calls import TaggedCalls, TagSet
from toolsupport.core.formats.tag_value import PAIRED
from toolsupport.core.formats.xml_dialects import INVOKE
from toolsupport.core.scanner import MarkerSet, Steps

SEED = "<seed:tool_call>"
HERMES = ("<tool_call>", "<toolcall>")
OTHERS = (SEED, "<function_invocation>")
WRAPPERS = (*HERMES, *OTHERS)
TAGS = TagSet(
    functions=("<function=", "<function name="),
    parameters=("<parameter=", "<parameter name=", "<param name=", "<param="),
    function_ends=("</function>",),
    parameter_ends=("</parameter>", "</param>"),
    wrapper_ends=("</tool_call>", "</toolcall>", "</seed:tool_call>", "</function_invocation>"),
    wrappers=(HERMES[0], *OTHERS),
    cdata=("<param name=", "<param="),
)
# Seed writes its values without line breaks around them.
SEED_TAGS = replace(TAGS, breaks=PAIRED)
# MiniCPM writes them so too, and those that hold tags as CDATA.
MINICPM_TAGS = replace(
    TAGS,
    functions=("<function name=", "<function="),
    parameters=("<param name=", "<param=", "<parameter name=", "<parameter="),
    breaks=PAIRED,
)
# Any pairs. A name alone is a call only of an offered tool: "<tool_call>JSON</tool_call>" is an explanation.
ANY_PAIRS = PairTagSet(suffixes=HY_SUFFIXES, separator="tool_sep", offered=True)
CLOSERS = MarkerSet(TAGS.wrapper_ends)
# Models mix the three with a name above an object, as GLM-4 writes it, and with Python.
NAMED = re.compile(r"(?P<name>[A-Za-z_][\w.:/-]{0,127})(?:(?P<python>\()|\s{1,8}\{)")
NAMED_BEGUN = re.compile(r"[A-Za-z_][\w.:/-]{0,127}\s{0,8}")
CLOSER = "</tool_call>"
NAMED_MARKS = NamedMarks(opens=(), behind_name=("\n", " \n", "\r\n", " "), closes=TAGS.wrapper_ends)
# Qwen3.6 behind some servers: the name alone in its tag.
TAGGED_NAME = re.compile(r"<function>(?P<name>[A-Za-z_][\w.:/-]{0,127})</function>\s{0,8}\{")
TAGGED_NAME_BEGUN = re.compile(
    r"<[a-z]{0,8}|<function>[\w.:/-]{0,128}(?:</?[a-z]{0,8})?|<function>[\w.:/-]{1,128}</function>\s{0,8}"
)
TAGGED_MARKS = replace(NAMED_MARKS, kind=("<function>",), behind_name=("</function>",))
INVOKED = replace(
    INVOKE.tags,
    wrapper_ends=(*TAGS.wrapper_ends, *INVOKE.tags.wrapper_ends),
    wrappers=(*TAGS.wrappers, *INVOKE.tags.wrappers),
)
ENDS = MarkerSet([*WRAPPERS, *TAGS.wrapper_ends])


def read(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read the text after the mark: calls, or text that only mentions it."""
    source = reading.source
    character = yield from source.space()
    if character == "<":
        yield from _tagged(reading, SEED_TAGS if opener == SEED else TAGS)
    elif character and character in "{[`":
        yield from JsonCalls(reading, CLOSERS, ENDS).read()
    elif character:
        yield from read_named(reading, ANY_PAIRS)


def _tagged(reading: ReaderContext, tags: TagSet) -> Steps[None]:
    """Read the tags of Qwen3-Coder or of Claude, or the name of a tool in a tag with JSON behind it."""
    found = yield from match(reading.source, TAGGED_NAME, TAGGED_NAME_BEGUN)
    if found is not None and reading.may_call(found["name"]):
        yield from NamedCalls(reading, TAGGED_MARKS).read("")
        return
    invoked = yield from reading.source.marker(INVOKED.openings)
    yield from TaggedCalls(reading, INVOKED if invoked else tags, bare=False).read()


def read_named(reading: ReaderContext, pairs: PairTagSet) -> Steps[None]:
    """Read a name with pairs; else the name of an offered tool with JSON behind it, or a call in Python."""
    source = reading.source
    begun = source.recorded
    yield from pairs.read_named(reading)
    if source.recorded <= begun:
        return
    source.back_to(begun)  # no call was read: the text is still in the record
    found = yield from match(source, NAMED, NAMED_BEGUN)
    if found is None or not reading.tools or not reading.may_call(found["name"]):
        return
    if found["python"]:
        yield from pythonic.read_closed(reading, CLOSER)
    else:
        yield from NamedCalls(reading, NAMED_MARKS).read("")
