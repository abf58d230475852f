"""Reads calls that are written as tags: a function with its name, and one element for each parameter.

In: the text of a reply after the first tag of a block. Out: the pieces of each call's arguments while they are
written, and the call once it is clear what follows it. Callers: `qwen3_coder_xml` (Seed and MiMo write it too),
`xml_dialects` (DeepSeek DSML, MiniMax M2 and others), `kimi_k3`, `minicpm5`, `functionary`, `step3`, `harmony`.
- Values are raw text, and may hold every tag there is (a file about this format): an end is believed only where
  something that may follow an end does. What is in doubt is not shown until that is settled.
- Types come from the schema alone. Nothing that was shown of a value changes later.
- What was repaired is listed with the call; what cannot be read becomes a call with the reason why not.
It is no XML reader: `<` and `&` in a value are text, since models do not escape them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolsupport.core.call_building import ParsedCall, finished, schema_of
from toolsupport.core.coercion import ALL_TYPES, type_of, types
from toolsupport.core.formats import cdata
from toolsupport.core.formats.argument_stream import TEXT, ArgumentStream, JsonArguments
from toolsupport.core.formats.json_calls import CUT_OFF, TOO_DEEP
from toolsupport.core.formats.named_json import TAG_CLOSED, name_in_unclosed_tag
from toolsupport.core.formats.premature_ends import AMBIGUOUS
from toolsupport.core.formats.reply_parser import ReaderContext
from toolsupport.core.formats.tag_value import KEPT, LEFT_OUT, TagValue, is_json_of, without_breaks
from toolsupport.core.json_repair import END_ADDED, read_json
from toolsupport.core.json_scanner import DEEPEST, JsonWalk
from toolsupport.core.scanner import MarkerSet, Steps
from toolsupport.core.text_values import from_text
from toolsupport.core.tool_lookup import find_tool

LONGEST_NAME = 128
NAME = re.compile(r"[^<>\n]*")
TWICE = "kept the first of two values of one parameter"
UNCLEAR = ParsedCall(why_not=AMBIGUOUS)
NO_PARAMETERS = ParsedCall(
    why_not="The call holds text that is no parameter. Write it again, each value in its own tags."
)


@dataclass(frozen=True)
class TagSet:
    """The tags of one dialect. `wrappers` may surround functions, openers and closers.

    `breaks`: the handling of a line break at either end of a value. `cdata` are the parameters whose value may be
    CDATA. `tag_end` ends a tag that has attributes; the attribute `type_key` of a parameter may give whether its value
    is a text (`text_type`) or JSON. `json` are the tags around arguments that are one JSON object. `escaped`: names are
    written with HTML entities.
    """

    functions: tuple[str, ...]
    parameters: tuple[str, ...]
    function_ends: tuple[str, ...]
    parameter_ends: tuple[str, ...]
    wrapper_ends: tuple[str, ...]
    wrappers: tuple[str, ...]
    breaks: str = LEFT_OUT
    cdata: tuple[str, ...] = ()
    tag_end: str = ">"
    type_key: str = "string"
    text_type: str = "true"
    json: tuple[str, ...] = ()
    escaped: bool = False

    @cached_property
    def ends_of_tags(self) -> MarkerSet:
        return MarkerSet([self.tag_end])

    @cached_property
    def around_json(self) -> MarkerSet:
        return MarkerSet(self.json)

    @property
    def types_given(self) -> str:
        return f'" {self.type_key}="'

    @cached_property
    def openings(self) -> MarkerSet:
        return MarkerSet(self.functions)

    @cached_property
    def keys(self) -> MarkerSet:
        return MarkerSet(self.parameters)

    @cached_property
    def stray(self) -> MarkerSet:
        return MarkerSet(self.parameter_ends)

    @cached_property
    def closings(self) -> MarkerSet:
        return MarkerSet(self.function_ends)

    @cached_property
    def wrapper_closings(self) -> MarkerSet:
        return MarkerSet(self.wrapper_ends)

    @cached_property
    def wrapper_openings(self) -> MarkerSet:
        return MarkerSet(self.wrappers)

    @cached_property
    def ends(self) -> MarkerSet:
        """Return the marks that end JSON in a function."""
        return MarkerSet([*self.function_ends, *self.wrapper_ends, *self.json])

    @cached_property
    def behind_a_parameter(self) -> MarkerSet:
        return MarkerSet([*self.parameters, *self.function_ends, *self.wrapper_ends])

    @cached_property
    def behind_a_function(self) -> MarkerSet:
        return MarkerSet([*self.functions, *self.wrapper_ends, *self.wrappers])

    @cached_property
    def in_a_value(self) -> MarkerSet:
        return MarkerSet([*self.parameters, *self.parameter_ends, *self.function_ends, *self.wrapper_ends])

    @cached_property
    def behind_a_doubtful_end(self) -> MarkerSet:
        """Return the marks to search after a possible end of a value, if it could be a quoted one."""
        return MarkerSet([*self.in_a_value.markers, *self.functions, *self.wrappers])


class TaggedCalls:
    """The functions of one block; each is emitted when the text after it is clear."""

    def __init__(self, reading: ReaderContext, tags: TagSet, *, bare: bool) -> None:
        self._reading = reading
        self._tags = tags
        self._bare = bare

    def read(self) -> Steps[None]:
        """Read the functions; if none begins here, the text stays in the record."""
        source = self._reading.source
        while True:
            yield from source.space()
            place = source.recorded
            if not (yield from source.found(self._tags.openings)):
                return
            call = TaggedCall(self._reading, self._tags, bare=self._bare)
            if not (yield from call.read(place)):
                return
            end = source.recorded
            yield from source.space()
            if (yield from source.closed(self._tags.wrapper_closings)):
                call.report(source.cut())
                return
            again = yield from source.marker(self._tags.openings)
            if self._bare or not again:
                source.back_to(end)
            call.report(source.cut())
            if self._bare:
                return


class TaggedCall:
    """One function."""

    def __init__(self, reading: ReaderContext, tags: TagSet, *, bare: bool) -> None:
        self._reading = reading
        self._tags = tags
        self._bare = bare
        self._arguments: dict[str, Any] = {}
        self._repairs: list[str] = []
        self._broken: ParsedCall | None = None
        self._key = ""
        self._unclosed = self._another = self._empty = False

    def read(self, place: int) -> Steps[bool]:
        """Read the function whose tag begins at that place of the record; return False if it is no call after all."""
        name = yield from name_in_unclosed_tag(self._reading)
        self._repairs += [TAG_CLOSED] if name else []
        name = name or (yield from self._name()).partition('" ')[0]
        # Without a wrapper around it (ollama #16686: <tool_call> is left out) only an offered tool is a call.
        if not name or (self._bare and not self._reading.may_call(name)):
            return False
        self._stream = ArgumentStream(self._reading.reply, self._reading.tools, name)
        self._spec = find_tool(name, self._reading.tools)
        if self._empty:
            return True
        yield from self._reading.source.repeated(self._reading.source.since(place))
        if (yield from self._begins_with_json()):
            yield from self._json()
        while (yield from self._part()):
            pass
        return True

    def _begins_with_json(self) -> Steps[bool]:
        """Read arguments as one object instead of parameters, in some formats between its own tags."""
        character = yield from self._reading.source.space()
        return character == "{" or bool(
            self._tags.json and (yield from self._reading.source.found(self._tags.around_json))
        )

    def report(self, raw: str) -> None:
        name = self._stream.name
        written = self._broken or finished(name, self._arguments, tuple(self._repairs), self._reading.tools)
        self._stream.done(written, raw, self._tags.stray)

    def _name(self) -> Steps[str]:
        """Read the text before the end of the tag, possibly quoted; return "" if the tag does not end.

        `_empty` is then whether the tag ends its own element, as in `<invoke name="now"/>`.
        """
        name = yield from self._reading.source.word(NAME, LONGEST_NAME)
        closed = yield from self._reading.source.found(self._tags.ends_of_tags)
        name = name.strip() if closed else ""
        self._empty = name.endswith("/")
        name = name.removesuffix("/").strip().strip("\"'").strip()
        return html.unescape(name) if self._tags.escaped else name

    def _part(self) -> Steps[bool]:
        """Read one parameter; return False after the function."""
        source = self._reading.source
        place = source.recorded
        character = yield from source.space()
        if (yield from source.closed(self._tags.closings)):
            return False
        if (yield from source.found(self._tags.stray)):  # a second </parameter>
            self._repairs.append("left out an end without a beginning")
            return True
        tag = yield from source.found(self._tags.keys)
        if tag:
            yield from self._parameter(tag)
            return self._broken is None
        if character and not (yield from source.marker(self._tags.behind_a_function)) and character != "<":
            self._broken = NO_PARAMETERS
        self._repairs.append(END_ADDED)
        source.back_to(place)
        return False

    def _parameter(self, tag: str) -> Steps[None]:
        key, _, kind = (yield from self._name()).partition(self._tags.types_given)
        is_text = kind == self._tags.text_type
        if not key:
            self._broken = NO_PARAMETERS
            return
        allowed = self._allowed(key)
        shows = allowed == TEXT and key not in self._arguments and (is_text or not kind)
        if kind:
            allowed = TEXT if is_text else ALL_TYPES - TEXT
        in_cdata = tag in self._tags.cdata and bool((yield from self._reading.source.marker(cdata.BEGINS)))
        value = TagValue(self._stream, key, KEPT if in_cdata else self._tags.breaks, shows=shows)
        text = "" if self._empty else (yield from self._content(value, key, in_cdata))
        if in_cdata:
            yield from self._reading.source.space()
        if text is None:
            self._broken = CUT_OFF
        elif self._stands_in_a_value(key, text, in_cdata=in_cdata):
            self._broken = UNCLEAR
        elif key in self._arguments:  # Qwen3-Coder writes a parameter twice; the first one was shown already
            self._stream.stop()
            self._repairs.append(TWICE)
        else:
            self._arguments[key] = text if allowed == TEXT else self._typed(key, text, allowed)
            value.ends(self._arguments[key])
        if in_cdata:
            yield from self._reading.source.found(self._tags.stray)

    def _content(self, value: TagValue, key: str, in_cdata: bool) -> Steps[str | None]:
        return (yield from (cdata.read(self._reading.source, value) if in_cdata else self._value(value, key)))

    def _stands_in_a_value(self, key: str, text: str, *, in_cdata: bool) -> bool:
        """Return whether this parameter may be quoted in the value of the one before it.

        It repeats after another one, or has one end too many. One that only repeats at once is a slip.
        """
        unclosed, self._unclosed = self._unclosed, self._another
        last, self._key, self._another = self._key, key, False
        again = key in self._arguments
        ends_within = not in_cdata and self._tags.stray.search(text, 0) is not None
        return (again and (key != last or unclosed)) or (ends_within and (again or unclosed))

    def _typed(self, key: str, text: str, allowed: frozenset[str]) -> Any:
        """Return the value of a text. Such values are written as JSON: any other reading is a repair."""
        value = from_text(text, allowed)
        if not isinstance(value, str) and not is_json_of(value, text):
            self._repairs.append(f"{key}: read string as {type_of(value)}")
        return value

    def _allowed(self, key: str) -> frozenset[str]:
        schema = schema_of(key, self._spec)
        return TEXT if schema is None or self._spec is None else types(schema, self._spec.parameters)

    def _value(self, value: TagValue, key: str) -> Steps[str | None]:
        """Read the text of a value, without one line break at each end; None if the reply ends within it."""
        source = self._reading.source
        start = source.recorded
        self._doubtful = -1
        self._tagged = self._closed = False
        while True:
            marks = self._tags.in_a_value if self._doubtful < 0 else self._tags.behind_a_doubtful_end
            found = marks.search(source.buffer, source.at)
            unsure = marks.unsure_from(source.buffer, source.at)
            piece = source.take(found.start() if found else unsure)
            self._tagged = self._tagged or "<" in piece
            value.text(piece)
            here, end = source.recorded, -1
            if found:
                end = yield from self._end_here(key)
            elif source.ended:
                end = self._doubted_end()
                if end < 0:
                    return None
            else:
                yield
            if end >= 0:
                value.settle(kept=end != self._doubtful)
                text = source.since(start)[: end - start]
                return without_breaks(text, self._tags.breaks, closed=self._closed)
            if self._doubtful == here:
                value.doubt()
            value.text(source.since(here))

    def _end_here(self, key: str) -> Generator[None, None, int]:
        """Return where the value ends, by the tag here and the text after it; -1 if it continues."""
        source = self._reading.source
        place = source.recorded
        tag = yield from source.found(self._tags.behind_a_doubtful_end)
        if tag in self._tags.behind_a_function.markers and tag not in self._tags.wrapper_ends:
            return self._doubted_end()
        if tag in self._tags.parameters:
            ends = self._another = yield from self._another_begins(key)
        elif tag in self._tags.parameter_ends:
            end = source.recorded
            ends = yield from self._followed_by(self._tags.behind_a_parameter)
            if not ends and not self._tagged:  # a second end at once, and no tag that it could belong to
                ends = bool((yield from source.found(self._tags.stray))) and (
                    yield from self._followed_by(self._tags.behind_a_parameter)
                )
            self._closed, self._tagged = ends, True
            source.back_to(end if ends else source.recorded)
            return place if ends else -1
        else:
            # `</parameter>` is left out by Qwen3-Coder at the end of long files (ollama #17276, #18563).
            ends = yield from self._function_ends(tag, place)
        if ends:
            self._repairs.append(END_ADDED)
            source.back_to(place)
        return place if ends else -1

    def _another_begins(self, key: str) -> Steps[bool]:
        """Return whether the tag is that of another parameter of the tool."""
        following = yield from self._reading.source.word(NAME, LONGEST_NAME)
        closed = yield from self._reading.source.marker(self._tags.ends_of_tags)
        other = following.strip("\"' ").partition(self._tags.types_given)[0]
        known = schema_of(other, self._spec) is not None and other not in self._arguments
        return bool(closed) and known and other != key

    def _function_ends(self, tag: str, place: int) -> Steps[bool]:
        """Return whether a function ends with an unclosed value. If text follows, that stays in doubt."""
        if tag in self._tags.wrapper_ends:
            return (yield from self._followed_by(self._tags.wrapper_openings))
        if (yield from self._followed_by(self._tags.wrapper_openings)) or (
            yield from self._reading.source.marker(self._tags.openings)
        ):
            return True
        if not (yield from self._reading.source.found(self._tags.wrapper_closings)):
            return False
        ends = yield from self._followed_by(self._tags.wrapper_openings)
        if not ends and self._doubtful < 0:
            self._doubtful = place
        return ends

    def _followed_by(self, marks: MarkerSet) -> Steps[bool]:
        """Return whether only space follows, or one of the marks."""
        character = yield from self._reading.source.space()
        return not character or bool((yield from self._reading.source.marker(marks)))

    def _doubted_end(self) -> int:
        """Go back to a possible end of the value; -1 if there is none."""
        if self._doubtful >= 0:
            self._reading.source.back_to(self._doubtful)
            self._repairs.append(END_ADDED)
        return self._doubtful

    def _json(self) -> Steps[None]:
        """Read the arguments as one JSON object."""
        source = self._reading.source
        yield from source.space()
        start = source.recorded
        walk = JsonWalk(source, self._tags.ends, JsonArguments(self._stream))
        yield from walk.value()
        read = read_json(source.since(start)) if walk.deepest <= DEEPEST else None
        if read and isinstance(read.value, dict) and not walk.cut_off:
            self._arguments = read.value
            self._repairs += read.repairs
        else:
            self._broken = TOO_DEEP if walk.deepest > DEEPEST else CUT_OFF if walk.cut_off else NO_PARAMETERS
        if self._tags.json:
            yield from source.space()
            yield from source.found(self._tags.around_json)
