"""Tracks the text of a reply and describes the position of a call: in a fence, a quotation, a sentence.

A line is looked at when it is whole, and as far as it goes when a call begins in it: each character is read once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolsupport.core.formats import call_intent, example_cues

# Three straight quotes are one mark.
TRIPLE = {'"""': "\ue000", "'''": "\ue001"}
# Marks that open a quotation → marks that may close it. Straight quotes open by their place: see `_opens`.
QUOTATIONS = {
    **{mark: mark for mark in TRIPLE.values()},
    '"': '"',
    "'": "'",
    "“": "”“",
    "„": "“”",
    "‟": "”",
    "‘": "’",
    "‚": "‘’",
    "«": "»",
    "»": "«",
    "‹": "›",
    "›": "‹",
    "「": "」",
    "『": "』",
    "《": "》",
    "〈": "〉",
    "＂": "＂",
    "❝": "❞",
    "❛": "❜",
    "〝": "〞〟",
    "｢": "｣",
    "″": "″",
    "′": "′",
    "´": "´",
}
STRAIGHT = ('"', "'")
BY_PLACE = frozenset("\"'»›″′´")
DEEPEST = 16
TAGS = "pre|code|samp|kbd|blockquote|q|example"
# Elements around quoted text; they count at the beginning of a line, since prose names such tags, too.
BLOCKS = (
    "document|documents|file|details|quote|textarea|script|examples|tool_response|tool_result|tool_results|results|"
    "result|observation|snippet|user"
)
COMMENTS = {"<!--": "-->", "<![CDATA[": "]]>"}
SIGNS = re.escape("".join(sorted({*QUOTATIONS, *"".join(QUOTATIONS.values())} - {*TRIPLE.values()})))
SPECIAL = re.compile(
    rf"`+|\"{{3}}|'{{3}}|[{SIGNS}]|<!--|-->|<!\[CDATA\[|\]\]>|\[/?(?:code|quote)(?:=[^\[\]\n]{{0,80}})?\]"
    rf"|</?(?:{TAGS}|{BLOCKS})\b[^<>]{{0,200}}>",
    re.I,
)
TAG = re.compile(r"<[^<>\s][^<>]{0,200}>")
LIST_MARK = re.compile(r"[ \t]*(?:(?:[-*+•]|(?:\d{1,9}|[a-z])[.)])[ \t]+)?")
BLOCK_QUOTE = re.compile(r"[ \t]*(?:(?:[-*+•]|\d{1,9}[.)])[ \t]+)?>")
TILDES = re.compile(r"[ \t>]*(?:(?:[-*+•]|\d{1,9}[.)])[ \t]+)?(~{3,})[^~]*\Z")
FENCE_LINE = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t\r]*\Z")
LONGEST_CUE = 160
INDENTED = re.compile(r"(?: {4,}| {0,3}\t)\s*\Z")
HEADS = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\||\*\*|(?:[-*+•]|\d{1,9}[.)])[ \t])")
LISTED = re.compile(r"[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]")


@dataclass(frozen=True, slots=True)
class CallPosition:
    """The position of a call.

    `quoted`: it is certainly only shown. `reported`: the words before it announce a quotation of someone else.
    `fenced`: it is in a code fence that holds only calls, `alone` if no word precedes that fence. `before`: a word
    precedes it on its line. `closers`: marks that make it a quotation if one of them follows. `left_open`: straight
    quotes that the line above left open, and that may close below. `unfinished`: the line above ends within a sentence.
    `ruler`: the sign of the line directly above, which makes it a listing if such a line follows. `new_sentence`: no
    sentence is open before it on its line. `label`: words that lead to it and announce no call, "" if none do.
    `words`: those before it, on its line or above. `entry`: it is an entry of a list, below another one.
    """

    quoted: bool = False
    reported: bool = False
    fenced: bool = False
    alone: bool = False
    before: bool = False
    closers: str = ""
    left_open: str = ""
    unfinished: bool = False
    ruler: str = ""
    new_sentence: bool = True
    label: str = ""
    words: str = ""
    entry: bool = False


class ContextTracker:
    """The state at the end of the text so far."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._words = False
        self._fence = ""
        self._fence_alone = self._fence_words = False
        self._comment = ""
        self._tags: list[str] = []
        self._cue = ""
        self._cue_whole = True
        self._transcript = self._listed = self._blank_above = self._diff = self._quoted_above = False
        # The level of the heading whose section shows examples, and the sign of the ruler above.
        self._section = 0
        self._ruler = ""
        self._quotations: list[str] = []
        self._begin_paragraph()
        self._begin_line()

    def _begin_paragraph(self) -> None:
        self._code = 0
        self._left_open = ""
        self._quotations = [one for one in self._quotations if one in TRIPLE.values()]

    def _begin_line(self) -> None:
        # Its text as long as it has no call, and its last words.
        self._line: str | None = None
        self._whole = True
        self._tail = ""
        self._before = self._mentioned = self._block_quote = self._table = False
        self._last = ""
        self._code_begins_line = False

    def text(self, piece: str) -> None:
        """Add text of the reply."""
        if piece:
            self._pieces.append(piece)
        if "\n" in piece:
            *lines, rest = "".join(self._pieces).split("\n")
            self._pieces = [rest]
            for line in lines:
                self._part(line, "\n")
                self._end_line()

    def line_ends(self) -> None:
        """Record that a hidden mark ended a message."""
        self.text("\n\n")

    def place(self) -> CallPosition:
        """Return the position of a call that begins here."""
        self._take()
        quoted = self._block_quote or self._mentioned or bool(self._comment) or bool(self._tags)
        if self._fence:
            return CallPosition(quoted or self._fence_words, fenced=True, alone=self._fence_alone)
        closers = "".join(self._quotations) + ("`" if self._code else "") + ("|" if self._table else "")
        bracket = example_cues.OPEN_BRACKET.search(self._tail)
        closers += example_cues.CLOSING[bracket[1] or bracket[2]] if bracket else ""
        quoted = quoted or any(one != "'" for one in self._quotations) or self._adjacent() or self._is_example()
        quoted = quoted or call_intent.asks_or_points(self._tail if self._before else self._above())
        return CallPosition(
            quoted,
            self._announced(example_cues.REPORT),
            alone=not self._words and not self._before,
            before=self._before,
            closers=closers,
            left_open=self._left_open,
            unfinished=self._cue.rstrip()[-1:].isalnum(),
            ruler="" if self._before else self._ruler,
            new_sentence=not self._before or self._tail.rstrip(" \t*_")[-1:] in example_cues.SENTENCE_ENDS,
            label="" if quoted else self._label(),
            words=self._tail if self._before else self._above(),
            entry=self._listed and not self._before and LISTED.match(self._tail) is not None,
        )

    def called(self, raw: str, place: CallPosition) -> None:
        """Record a call; its marks may have opened or closed a fence."""
        self._take()
        self._whole, self._last = False, "x"
        opens = raw.lstrip()[:3] in ("```", "~~~")
        closes = raw.rstrip()[-3:] in ("```", "~~~")
        if opens and not closes and not self._fence:
            self._fence, self._fence_alone, self._fence_words = "```", place.alone, False
        elif closes and not opens:
            self._fence = ""

    def mentioned(self, *, on_this_line: bool) -> None:
        """Record that the call is text: the rest of its line belongs to the same sentence."""
        self._words = self._fence_words = True
        self._mentioned = self._mentioned or on_this_line

    def _take(self) -> None:
        part = "".join(self._pieces)
        self._pieces = []
        self._part(part, "x")

    def _part(self, text: str, following: str) -> None:
        """Add a part of a line; `following` is the text after it."""
        if not text:
            return
        begins = self._line is None and self._whole
        self._line = text if begins else ""
        self._tail = (self._tail + text)[-LONGEST_CUE:]
        if self._fence:
            return
        if begins:
            self._block_quote = bool(BLOCK_QUOTE.match(text))
            self._table = text.lstrip().startswith("|")
        words = TAG.sub(" ", text[LIST_MARK.match(text).end() :] if begins else text)  # type: ignore[union-attr]
        self._before = self._before or any(map(str.isalnum, words))
        if begins and text.strip() in STRAIGHT and not self._quotations:
            self._quotations.append(text.strip())  # alone on its line, or before the call
            return
        for found in SPECIAL.finditer(text):
            previous = text[found.start() - 1 : found.start()] or self._last
            begins_line = begins and not text[: found.start()].strip()
            self._special(found.group(), previous, text[found.end() : found.end() + 1] or following, begins_line)
            if self._code and found.group()[0] == "`":
                self._code_begins_line = begins and not text[: found.start()].strip(" \t>-*+")
        self._last = text[-1]

    def _special(self, mark: str, previous: str, following: str, begins_line: bool) -> None:
        if mark[0] == "`":
            self._code = len(mark) if not self._code else 0 if self._code == len(mark) else self._code
        elif self._code:
            return
        elif mark[0] in "<[]-":
            self._tag(mark, begins_line=begins_line)
        else:
            self._quotation(TRIPLE.get(mark, mark), previous, following)

    def _tag(self, mark: str, *, begins_line: bool) -> None:
        if mark in COMMENTS or mark in COMMENTS.values():
            self._comment = COMMENTS.get(mark, "" if mark == self._comment else self._comment)
            return
        name = re.sub(r"[^a-z_].*", "", mark.lower().lstrip("</["))
        if mark[1] != "/" and (begins_line or name not in BLOCKS.split("|")):
            self._tags = [*self._tags[:DEEPEST], name]
        elif name in self._tags:
            self._tags.remove(name)

    def _quotation(self, mark: str, previous: str, following: str) -> None:
        within_word = mark in "'’" and previous.isalnum() and following.isalnum()
        closed = next((at for at in reversed(range(len(self._quotations))) if mark in self._quotations[at]), -1)
        if within_word:
            return
        if closed >= 0:
            del self._quotations[closed:]
        elif mark in QUOTATIONS and _opens(mark, previous, following) and len(self._quotations) < DEEPEST:
            self._quotations.append(QUOTATIONS[mark])

    def _end_line(self) -> None:
        self._blank_above = self._whole and not self._tail.strip()
        if self._fence:
            self._end_line_in_fence(self._line or "")
        else:
            self._end_line_of_text(self._line or "")
        self._begin_line()

    def _end_line_in_fence(self, line: str) -> None:
        closing = FENCE_LINE.match(line) if self._whole else None
        if closing and closing[1].startswith(self._fence):
            self._fence = self._cue = ""  # the words above announced what the fence held
        elif self._tail.strip():
            self._fence_words = True

    def _end_line_of_text(self, line: str) -> None:
        self._note_kind(line)
        tildes = TILDES.match(line) if self._whole else None
        fence = tildes[1] if tildes else "`" * self._code if self._code >= len("```") else ""
        if fence:
            begins = bool(tildes) or self._code_begins_line
            self._tail = self._tail[: max(0, self._tail.rfind(fence))]
            self._fence, self._fence_alone = fence, not self._words and begins
            self._fence_words = self._block_quote or bool(self._quotations) or self._mentioned or self._is_example()
            self._begin_paragraph()
            return
        if self._tail.strip():
            self._words, self._cue, self._cue_whole = True, self._tail, self._whole
            self._transcript = self._transcript or any(
                one.match(line) for one in (example_cues.USER, example_cues.SPEAKER)
            )
            self._listed = bool(LISTED.match(line)) or (self._listed and line[:1].isspace())
            self._forget_open_quotes()
        elif self._whole:
            self._begin_paragraph()

    def _note_kind(self, line: str) -> None:
        """Store the meaning of a whole line for the lines below it."""
        ruler, heading = example_cues.RULER.match(line), example_cues.HEADING.match(line)
        if ruler or line.strip() or not self._whole:
            self._ruler = ruler[2] if ruler and self._words else ""
        self._diff = bool(line.strip()) and (self._diff or bool(example_cues.DIFF.match(line)))
        self._quoted_above = bool(line.strip()) and (self._block_quote or self._quoted_above)
        if heading and (not self._section or len(heading[1]) <= self._section):
            self._section = len(heading[1]) if example_cues.SHOWING.match(heading[2][:LONGEST_CUE]) else 0

    def _adjacent(self) -> bool:
        """Return whether only space stands between an opening quote and this position."""
        last = self._tail.rstrip()[-1:]
        opened = [one for one in self._quotations if last in QUOTATIONS and one == QUOTATIONS[last]]
        return bool(opened) or (last == "`" and self._code > 0)

    def _forget_open_quotes(self) -> None:
        """Drop a straight quote left open on its line as a slip, unless it ends the line."""
        if self._tail.rstrip()[-1:] not in STRAIGHT:
            self._left_open += "".join(one for one in self._quotations if one in STRAIGHT)
            self._quotations = [one for one in self._quotations if one not in STRAIGHT]

    def _is_example(self) -> bool:
        """Return whether the text or element before this position shows that the call is an example."""
        tail, cue = self._tail, self._cue if not self._before else ""
        shown = (
            example_cues.LOG.match(tail)
            or example_cues.ASSIGNED.search(tail)
            or example_cues.CODE.search(tail)
            or example_cues.LEADING.match(tail)
        )
        key = example_cues.KEY.match(tail)
        titled = (
            example_cues.LEADS.match(cue)
            or example_cues.BLOCK.match(cue)
            or example_cues.TITLE.match(tail.strip() or cue)
            or example_cues.LOCATION.match(tail.strip() or cue)
            or (key and not example_cues.OWN_ELEMENT.match(key[1]))
        )
        if self._section or self._quoted_above or (self._diff and example_cues.DIFF_LINE.match(tail)):
            return True
        speaker = tail.strip() or cue
        speaks = example_cues.SPEAKER.fullmatch(speaker) or (self._transcript and example_cues.ASSISTANT.match(speaker))
        around = example_cues.ELEMENT.search(tail if tail.strip() else self._cue)
        within = around and not example_cues.OWN_ELEMENT.match(around[1])
        if shown or titled or speaks or within or tail.rstrip().endswith("~~") or self._indented():
            return True
        return any(map(self._announced, (example_cues.EXAMPLE, example_cues.REFUSED, example_cues.QUOTES)))

    def _above(self) -> str:
        """Return the line above this position, unless words stand before it on its own line."""
        return "" if self._before else self._cue.rstrip(" \t\r*_")

    def _label(self) -> str:
        """Return the words that lead to this position if they announce no call: on its line, or above it."""
        above = self._above()
        if call_intent.is_title_of_text(above):
            return above
        stands_alone = not self._cue_whole or HEADS.match(above)
        words = (
            self._tail if self._before else "" if stands_alone and not above.endswith(example_cues.COLONS) else above
        )
        return words if call_intent.is_label(words, takes_object=self._before) else ""

    def _indented(self) -> bool:
        """Whether Markdown shows this line as code: it is indented below words and a blank line, in no list."""
        return bool(INDENTED.match(self._tail)) and self._words and self._blank_above and not self._listed

    def _announced(self, words: re.Pattern[str]) -> bool:
        """Return whether an announcement precedes this position, on its line or above after a colon."""
        below = not self._before or example_cues.LABEL.match(self._tail)
        above = self._cue if below and self._cue.rstrip(" \t\r*_").endswith(example_cues.COLONS) else ""
        return bool(words.search(self._tail) or words.search(above))


def _opens(mark: str, previous: str, following: str) -> bool:
    """Return whether a mark opens a quotation here: an apostrophe or an inch sign does not."""
    if mark not in BY_PLACE:
        return True
    if mark in STRAIGHT and following == "\n":
        return not previous.strip()  # it ends its line after a blank: the text on the lines below is quoted
    in_a_word = previous.isdigit() or previous.lower() != previous.upper() or previous in (*".,;!?)]}", "’")
    return not (previous and in_a_word) and not following.isspace()
