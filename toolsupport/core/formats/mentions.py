"""Decides whether a call that was read in the text of a reply is made, or only mentioned there.

docs/formats.md holds the rule as a table. A call that is followed by something on its line is held until the first
character behind it that decides; the text around it is not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from toolsupport.core.events import CallReady, CallRejected
from toolsupport.core.formats.call_context import Place, Surroundings

Call = CallReady | CallRejected


class Fence(Enum):
    """What a code fence around a call means in a format.

    QUOTES: the call is shown. ALONE: it is made if the fence is the whole reply. FORM: it is made if nothing follows.
    """

    QUOTES = "quotes"
    ALONE = "alone"
    FORM = "form"


@dataclass(frozen=True, slots=True)
class Mention:
    """A call that is text of the reply."""

    call: Call


Item = str | Call | Mention

MARKED = re.compile(r"\s*(?:<|\[[A-Z_]+\]|\]<\]|>>>)")
OWN_FENCE = re.compile(r"\s*(?:`{3}|~{3})")
STOPS = frozenset(".;!?…。！？")
BLANKS = re.compile(r"(?:[^\S\r\n]|[*_])*+")  # emphasis may end behind a call
BLANKS_AND_STOPS = re.compile(r"(?:[^\S\r\n]|[*_.;!?…。！？])*+")
SPACE = re.compile(r"\s*")
SPACE_AND_FENCES = re.compile(r"[\s`~]*")
# Signs that begin a stray mark or close a bracket: no words of a sentence.
NO_PROSE = frozenset("<[]{}|\n\r")
GOES_ON = frozenset(",:()–—-=→’”»")


class Mentions:
    """The calls and the text of one reply in, the same items in order out, each call decided."""

    def __init__(self, fence: Fence = Fence.QUOTES, is_result: Callable[[str], bool] = lambda _raw: False) -> None:
        """`is_result` tells whether a tool gave this text back before."""
        self._fence = fence
        self._is_result = is_result
        self._surroundings = Surroundings()
        self._place: Place | None = None
        self._held: list[Item] = []
        self._held_place = Place()
        self._bare = self._stopped = self._broken = False

    @property
    def quoted(self) -> bool:
        """Whether a call that begins here is certainly only shown."""
        return self._here().quoted

    def text(self, piece: str) -> Sequence[Item]:
        if not piece:
            return ()
        self._place = None
        if not self._held:
            self._surroundings.text(piece)
            return (piece,)
        undecided = self._undecided().match(piece).end()  # type: ignore[union-attr]  # matches everywhere
        self._stopped = self._stopped or not STOPS.isdisjoint(piece[:undecided])
        self._broken = self._broken or "\n" in piece[:undecided]
        self._surroundings.text(piece[:undecided])
        if undecided == len(piece):
            self._held.append(piece)
            return ()
        decided = self._decided(mentioned=self._is_mentioned(piece[undecided]))
        self._surroundings.text(piece[undecided:])
        return (*decided, piece)

    def call(self, call: Call) -> Sequence[Item]:
        place = self._here()
        if OWN_FENCE.match(call.raw):
            place = replace(place, fenced=True)
        self._surroundings.called(call.raw, place)
        self._place = None
        if self._is_quoted(place, call):
            before = self._decided(mentioned=False)
            self._surroundings.mentioned(on_this_line=True)
            return (*before, Mention(call))
        joins = self._held and place.fenced is self._held_place.fenced and (place.fenced or not self._broken)
        before = () if joins else self._decided(mentioned=False)
        if not joins:
            self._held_place, self._bare = place, not MARKED.match(call.raw)
        self._stopped = self._broken = False
        self._held.append(call)
        return before

    def message_ends(self) -> Sequence[Item]:
        """A mark that is not shown, or reasoning, stands here: a sentence does not go on behind it."""
        self._place = None
        self._surroundings.line_ends()
        return () if self._held_place.fenced else self._decided(mentioned=False)

    def end(self) -> Sequence[Item]:
        return self._decided(mentioned=False)

    def _here(self) -> Place:
        if self._place is None:
            self._place = self._surroundings.place()
        return self._place

    def _is_quoted(self, place: Place, call: Call) -> bool:
        repeated = (place.reported or place.fenced) and self._is_result(call.raw)
        return place.quoted or repeated or (place.fenced and not self._may_be_fenced(place))

    def _may_be_fenced(self, place: Place) -> bool:
        return self._fence is Fence.FORM or (self._fence is Fence.ALONE and place.alone)

    def _decided(self, *, mentioned: bool) -> Sequence[Item]:
        held, self._held = self._held, []
        if not held or not mentioned:
            return held
        self._place = None
        self._surroundings.mentioned(on_this_line=not self._broken)
        return [item if isinstance(item, str) else Mention(item) for item in held]  # type: ignore[arg-type]

    def _undecided(self) -> re.Pattern[str]:
        """What may follow the held call and decides nothing."""
        if self._held_place.fenced:
            return SPACE_AND_FENCES
        if self._held_place.closers:
            return SPACE
        return BLANKS if self._held_place.before else BLANKS_AND_STOPS

    def _is_mentioned(self, character: str) -> bool:
        """Whether the first character that decides makes the held call a part of a text."""
        if self._held_place.fenced or character in self._held_place.closers:
            return True
        if self._broken or character in NO_PROSE:
            return False
        kind = unicodedata.category(character)
        if self._held_place.before or self._bare:
            return kind[0] in "LNP" or kind == "Sm"
        return not self._stopped and (kind in ("Ll", "Lo", "Lm") or character in GOES_ON)
