"""Decides whether a call that was read in the text of a reply is made, or only mentioned there.

docs/formats.md holds the rule as a table. A call that is followed by something on its line is held until the first
character after it that decides; the text around it is not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from toolsupport.core.call_building import BRACKET_TOO_MANY
from toolsupport.core.events import CallReady, CallRejected
from toolsupport.core.formats import announced_calls, call_intent, example_cues
from toolsupport.core.formats.announced_calls import Circumstances
from toolsupport.core.formats.call_context import CallPosition, ContextTracker
from toolsupport.core.formats.intent_words import EXPLAINED

CallEvent = CallReady | CallRejected


class FenceRule(Enum):
    """The meaning of a code fence around a call in a format.

    QUOTES: the call is shown. ALONE: it is made if the fence is the whole reply. FORM: it is made if nothing follows.
    """

    QUOTES = "quotes"
    ALONE = "alone"
    FORM = "form"


@dataclass(frozen=True, slots=True)
class Mention:
    """A call that is text of the reply; `quoted`: its position alone showed that."""

    call: CallEvent
    quoted: bool = False


Item = str | CallEvent | Mention

MARKED = re.compile(r"\s*(?:<|\[[A-Z_]+\]|\]<\]|>>>)")
# A fence that means a call in every format: only Gemma and Gemini use this name.
TOOL_CODE = re.compile(r"\s*`{3,}tool_code\b")
OWN_FENCE = re.compile(r"\s*(?:`{3}|~{3})")
STOPS = frozenset(".!?。！？")
BLANKS = re.compile(r"(?:[^\S\r\n]|[*_])*+")  # emphasis may end after a call
BLANKS_AND_STOPS = re.compile(r"(?:[^\S\r\n]|[*_.;!?…。！？])*+")
SPACE_ON_A_LINE = re.compile(r"[^\S\n]*")
SPACE = re.compile(r"\s*")
BLANKS_IN_FRONT = re.compile(r"[ \t]*")
SPACE_AND_FENCES = re.compile(r"[\s`~]*")
GOES_ON = frozenset(",:()–—-=→’”»،")
GOES_ON_BELOW = frozenset(",;)，；）、。")
# Signs that may begin a stray mark of a format, or close its bracket: what follows them decides.
BRACKETS = frozenset("<[]{}|")
MOST_SIGNS = 24
# Words that continue a sentence whose subject is the call above.
VERBS = frozenset(
    {"is", "are", "was", "were", "would", "will", "does", "has", "means", "should", "could", "can", "must"}
    | {"ist", "war", "est", "es", "era", "è", "é", "bedeutet", "heißt"}
)
LONGEST_VERB = 8
# A sentence after a call is read up to its end, one below it up to the end of its line, at most so far.
LONGEST_SENTENCE = 160
# Directly below a call: a character that points at it, or the dash before an author.
POINTS_UP = frozenset("^↑⬆☝👆⇧▲–—―")
# Beginnings of an entry of a list, a heading or a row: below a doubtful call it is the next part of the text.
MARKS_OF_LINES = frozenset("-+•#|")
LIST_ENTRY = re.compile(r"(?:[-+•*]|\d{1,4}[.)]) ")
SENTENCE_ENDS = frozenset(".!?…。！？؟।\n\r")
QUESTION_SIGNS = frozenset("?？؟")
LINE_ENDS = frozenset("\n\r")
NOTHING = re.compile("")
# After a quote that a line above left open, its end is searched for in so many characters of this paragraph.
LOOK_AHEAD = 300
QUOTE_ENDS = re.compile(r"(?P<blank>\n[^\S\n]*\n)|(?<![^\S\n])(?P<quote>[\"'])(?!\w)")
ELEMENT = re.compile(
    r"</?(?:a|abbr|b|big|br|center|cite|code|dd|del|div|dl|dt|em|font|h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|pre|q|s|samp|"
    r"small|span|strike|strong|sub|sup|table|tbody|td|th|thead|tr|tt|u|ul|var)\Z",
    re.I,
)
PART_OF_ELEMENT = re.compile(r"</?[a-zA-Z]*[1-6]?\Z")


class MentionFilter:
    """Decides each call in one reply: takes calls and text, and returns the same items in order."""

    def __init__(self, fence: FenceRule = FenceRule.QUOTES, circumstances: Circumstances | None = None) -> None:
        self._fence = fence
        self.circumstances = circumstances or Circumstances()
        self._surroundings = ContextTracker()
        self._place: CallPosition | None = None
        self._held: list[Item] = []
        self._held_place = CallPosition()
        self._bare = self._stopped = self._broken = self._doubted = False
        self._signs = self._ahead = self._sentence = ""
        self._below = self._apart = self._waits = self._in_tool_code = False

    @property
    def quoted(self) -> bool:
        """Return whether a call that begins here is certainly only shown."""
        return self._here().quoted

    def text(self, piece: str) -> Sequence[Item]:
        if not piece:
            return ()
        self._place = None
        if not self._held:
            self._surroundings.text(piece)
            return (piece,)
        self._ahead += piece if self._held_place.left_open else ""
        at = 0
        verdict: bool | None = False if self._waits else None
        while verdict is None:
            undecided = self._undecided().match(piece, at).end()  # type: ignore[union-attr]  # matches everywhere
            blanks = piece[at:undecided]
            self._stopped = self._stopped or not STOPS.isdisjoint(blanks)
            self._broken = self._broken or "\n" in blanks
            verdict = self._behind_blanks() if blanks else None
            at = undecided
            if verdict is None:
                if at == len(piece):
                    self._surroundings.text(piece)
                    self._held.append(piece)
                    return ()
                verdict = self._is_mentioned(piece[at])
                at += verdict is None
        if self._waits or (not verdict and self._held_place.left_open):
            return self._until_quote(piece)
        self._surroundings.text(piece[:at])
        decided = self._decided(mentioned=verdict)
        self._surroundings.text(piece[at:])
        return (*decided, piece)

    def call(self, call: CallEvent) -> Sequence[Item]:
        if self._sentence:  # it leads to another call, so it may announce that one
            self._doubted = False
            return (*self._decided(mentioned=not self._below or self._is_about_call()), *self.call(call))
        blanks = BLANKS_IN_FRONT.match(call.raw)[0]  # type: ignore[index]  # matches everywhere
        if blanks:  # the grammar of Python takes the spaces before a call
            self._place = None
            self._surroundings.text(blanks)
        place = self._here()
        if OWN_FENCE.match(call.raw):
            place = replace(place, fenced=True)
        self._surroundings.called(call.raw, place)
        self._place = None
        if self._is_quoted(place, call) or _takes_in(call, place.closers):
            before = self._decided(mentioned=False)
            self._surroundings.mentioned(on_this_line=True)
            return (*before, Mention(call, quoted=True))
        apart = self._broken or self._below
        joins = self._held and place.fenced is self._held_place.fenced and (place.fenced or not apart)
        joins = joins or self._waits
        before = () if joins else self._decided(mentioned=False)
        if not joins:
            self._held_place, self._bare = place, not MARKED.match(call.raw)
            # The words before it add nothing: those below it decide.
            self._doubted = bool(place.words.strip()) and _lacks_announcement(place, call)
            self._doubted = (self._doubted and not self.circumstances.continues) or place.entry
        self._stopped = self._broken = self._below = self._apart = False
        self._signs = self._ahead = ""
        self._held.append(call)
        return before

    def message_ends(self) -> Sequence[Item]:
        """Record a hidden mark or reasoning: a sentence does not continue after it."""
        self._place = None
        self._surroundings.line_ends()
        return () if self._held_place.fenced else self._decided(mentioned=self._is_about_call())

    def end(self) -> Sequence[Item]:
        found = self._quote_end() if self._waits else None
        return self._decided(mentioned=(found is not None and not found["blank"]) or self._is_about_call())

    def _until_quote(self, piece: str) -> Sequence[Item]:
        """Hold the call until the quote above closes, or was clearly a slip."""
        self._waits = True
        found = self._quote_end()
        quoted = found is not None and not found["blank"]
        decided_at = LOOK_AHEAD if found is None else found.end() + quoted  # a word after a quote opens another one
        if len(self._ahead) < decided_at:
            self._surroundings.text(piece)
            self._held.append(piece)
            return ()
        at = decided_at - (len(self._ahead) - len(piece))
        self._surroundings.text(piece[:at])
        decided = self._decided(mentioned=quoted)
        self._surroundings.text(piece[at:])
        return (*decided, piece)

    def _quote_end(self) -> re.Match[str] | None:
        """Handle the end of the quotation that a line above began, or of its paragraph."""
        ends = QUOTE_ENDS.finditer(self._ahead[:LOOK_AHEAD])
        return next((one for one in ends if one["blank"] or one["quote"] in self._held_place.left_open), None)

    def _here(self) -> CallPosition:
        if self._place is None:
            self._place = self._surroundings.place()
        return self._place

    def _is_quoted(self, place: CallPosition, call: CallEvent) -> bool:
        repeated = (place.reported or place.fenced) and self.circumstances.is_result(call.raw)
        fenced = place.fenced and not self._is_tool_code(place, call.raw) and not self._may_be_fenced(place)
        shown = place.quoted or repeated or fenced or _is_labelled(place.label, call)
        return shown or self._is_unannounced(place, call)

    def _is_unannounced(self, place: CallPosition, call: CallEvent) -> bool:
        """Whether no words announce a call that changes something, or whose form a person wants to see."""
        now = self.circumstances
        if now.about_form:
            return not announced_calls.announces(place.words)
        if announced_calls.withholds(place.words):
            return _changes(call)
        shown = now.about_calls or not (now.continues or announced_calls.leads_on(place.words))
        return shown and _lacks_announcement(place, call)

    def _is_tool_code(self, place: CallPosition, raw: str) -> bool:
        """Return whether the call is in a fence of that name, which it may open and close itself."""
        own = bool(TOOL_CODE.match(raw)) or (self._in_tool_code and place.fenced)
        self._in_tool_code = own and not raw.endswith("```")
        return own

    def _may_be_fenced(self, place: CallPosition) -> bool:
        return self._fence is FenceRule.FORM or (self._fence is FenceRule.ALONE and place.alone)

    def _decided(self, *, mentioned: bool) -> Sequence[Item]:
        held, self._held = self._held, []
        self._waits, self._ahead, self._sentence = False, "", ""
        if not held or not mentioned:
            return held
        self._place = None
        self._surroundings.mentioned(on_this_line=not self._broken)
        return [item if isinstance(item, str) else Mention(item) for item in held]  # type: ignore[arg-type]

    def _undecided(self) -> re.Pattern[str]:
        """Skip text after the held call that decides nothing."""
        if self._sentence:
            return NOTHING
        if self._held_place.fenced:
            return SPACE_AND_FENCES
        if self._held_place.closers:
            return SPACE
        if self._below:
            return SPACE_ON_A_LINE
        return BLANKS if self._held_place.before else BLANKS_AND_STOPS

    def _behind_blanks(self) -> bool | None:
        """Handle white space, which ends a word, and the name of an element."""
        if self._below:
            return self._signs in VERBS if self._signs else None
        if PART_OF_ELEMENT.match(self._signs) and self._signs[-1:].isalnum():
            return bool(ELEMENT.match(self._signs))
        return None

    def _is_mentioned(self, character: str) -> bool | None:
        """Return whether this character makes the held call text; None if the next ones decide."""
        if self._held_place.fenced or character in self._held_place.closers:
            return True
        if self._sentence:
            return self._at_sentence(character)
        if self._below or character in "\n\r":
            return self._goes_on_below(character) if self._below else self._at_break(character)
        if self._broken or len(self._signs) == MOST_SIGNS:
            return False
        return self._goes_on(character) if self._signs else self._first_sign(character)

    def _first_sign(self, character: str) -> bool | None:
        """Return the same for the first character after the call and its blanks."""
        kind = unicodedata.category(character)
        if character in BRACKETS:
            return self._awaits(character)
        if self._held_place.before or self._bare:
            if kind == "Lu" and self._held_place.new_sentence:
                return self._at_sentence(character)
            return kind[0] in "LMNP" or kind == "Sm" or self._awaits(character)
        if self._stopped or kind[0] in "LMN":
            return not self._stopped and kind in ("Ll", "Lo", "Lm", "Mn", "Mc")
        return character in GOES_ON or self._awaits(character)

    def _at_sentence(self, character: str) -> bool | None:
        """Read the sentence that begins after the held call; at its end return whether it is about the call.

        Below the call a question may follow it on its line.
        """
        over = character in LINE_ENDS or len(self._sentence) == LONGEST_SENTENCE
        if self._leads_on(character):
            self._sentence += character
            return None
        first = character in SENTENCE_ENDS and SENTENCE_ENDS.isdisjoint(self._sentence) and not self._sentence.isdigit()
        if over or first or character in QUESTION_SIGNS:
            about = self._is_about_call(character)
            if about or over or not self._below:
                return about
        self._sentence += character
        return None

    def _leads_on(self, character: str) -> bool:
        """Whether the sentence below a doubtful call ends in a colon: it may lead to another call, as in "Then Bo:".

        So may the next entry of a list.
        """
        listed = LIST_ENTRY.match(self._sentence) and LINE_ENDS.isdisjoint(self._sentence)
        leads = self._below and (listed or self._sentence.rstrip().endswith(example_cues.COLONS))
        return self._doubted and bool(leads) and character.isspace() and len(self._sentence) < LONGEST_SENTENCE

    def _is_about_call(self, end: str = "") -> bool:
        """Return whether the sentence that was read, with its final punctuation, is about the held call."""
        if not self._below:
            return bool(self._sentence) and not example_cues.AFTERWARDS.fullmatch(self._sentence.rstrip())
        if example_cues.USER.match(self._sentence):  # the model continues the conversation by itself
            return False
        if self._doubted and self._sentence and not announced_calls.continues_below(self._sentence + end):
            return True
        return bool(EXPLAINED.match(self._sentence)) or call_intent.asks_or_points(self._sentence + end)

    def _at_break(self, character: str) -> bool | None:
        """Handle a line break after the call; if the call is alone on its line, the next line decides."""
        self._below = character == "\n"
        return False if self._broken or self._signs or self._held_place.before else None

    def _goes_on_below(self, character: str) -> bool | None:
        """Return whether the sentence continues below a call that is alone on its line.

        It does with a lower-case letter if the line above ends within a sentence, else with a verb. Lines of one sign
        above and below make it a listing.
        """
        ruler = self._held_place.ruler
        if ruler and not self._signs.strip(ruler) and character in (ruler, "\n"):
            return len(self._signs) > 1 or (self._awaits(character) if character == ruler else None)
        if character == "\n" and not self._signs:
            self._apart = True
            return None
        kind = unicodedata.category(character)
        next_part = self._doubted and (character.isdigit() or character in MARKS_OF_LINES)
        if not self._signs and (next_part or kind in ("Lu", "Lo") or character in "(*_¿¡"):
            unspaced = kind == "Lo" and self._held_place.unfinished and not self._apart
            return True if unspaced else self._at_sentence(character)
        if self._apart:
            return kind == "Ll" and self._held_place.unfinished and not self._signs
        if not self._signs and character in POINTS_UP:
            return True
        if self._held_place.unfinished or character in GOES_ON_BELOW:
            return kind in ("Ll", "Lo") or character in GOES_ON_BELOW
        if kind == "Ll" and len(self._signs) < LONGEST_VERB:
            return self._awaits(character)
        return False

    def _goes_on(self, character: str) -> bool | None:
        """Return whether letters after punctuation continue the sentence, except those of a stray mark."""
        signs = self._signs
        if PART_OF_ELEMENT.match(signs):
            if character.isalnum() or (character == "/" and signs == "<"):
                return self._awaits(character)
            return bool(ELEMENT.match(signs))
        if signs[-1] == "[" and (character in "/{[<|" or character.isupper()):
            return False
        if signs[-1] == "|" and character == ">":
            return False
        if character == "(" or unicodedata.category(character)[0] in "LMN":
            return True
        return self._awaits(character)

    def _awaits(self, character: str) -> bool | None:
        """Wait for the text after this character."""
        # A tag after other punctuation is read like one that stands alone.
        self._signs = (self._signs if character != "<" else "") + character
        return None


def _changes(call: CallEvent) -> bool:
    return isinstance(call, CallReady) and not announced_calls.only_reads(call.call.name)


def _lacks_announcement(place: CallPosition, call: CallEvent) -> bool:
    return _changes(call) and not announced_calls.announces(place.words)


def _is_labelled(label: str, call: CallEvent) -> bool:
    """Whether words lead to the call that announce none and name nothing in it."""
    if not (label and isinstance(call, CallReady)):
        return bool(label)
    # A verb alone announces no change: "Anti-pattern 3: deleting without a backup".
    return not call_intent.names_the_call(label, call.call, whole=_changes(call))


def _takes_in(call: CallEvent, closers: str) -> bool:
    """Whether a call was read with the bracket that closes after it: `[see functools[{…}]]`."""
    return isinstance(call, CallReady) and BRACKET_TOO_MANY in call.call.repairs and call.raw.rstrip()[-1] in closers
