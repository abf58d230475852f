"""Splits the reasoning that a model writes into its text from its answer.

The marks stand in one table. A mark counts where no call and no code is read; in quotes, backquotes or a fence of the
answer it is text. Inside reasoning the first closing mark ends it.
A reply may begin inside reasoning, because the prompt ended in the opening mark. Where that is not known, the text is
given out as an answer first; the lone closing mark shows that it was reasoning, and a `TextReclassified` moves it.
Calls in reasoning are drafts: they count only where nothing but space follows them, inside the reasoning and after it.
Tags around the answer behind the reasoning are left out by core/answer_wrapper.py.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from toolsupport.core.events import CallReady, CallRejected, Event, TextDelta
from toolsupport.core.quote_tracker import QuoteTracker
from toolsupport.core.scanner import MarkerSet, Steps, TextSource


@dataclass(frozen=True, slots=True)
class ReasoningMarks:
    """The marks of reasoning in one family of models.

    `around` are marks beside the answer, which are left out. `proves`: a closing mark without an opening one shows that
    the reply began inside reasoning. `first`: the opening mark is prose, which counts only as the first words. `line`:
    the opening mark is also a common element, which counts only at the beginning of a line. `tag`: models confuse the
    closing mark with that of another tag, so any of them ends the reasoning. `also`: marks that end it, too, and that
    mean something else anywhere else.
    """

    opens: tuple[str, ...]
    closes: tuple[str, ...]
    around: tuple[str, ...] = ()
    proves: bool = True
    first: bool = False
    line: bool = False
    tag: bool = False
    also: tuple[str, ...] = ()


def tag(name: str, *, common: bool = False) -> ReasoningMarks:
    """Return a pair of tags in lower case, in upper case and capitalised."""
    written = tuple(dict.fromkeys((name, name.upper(), name.title())))
    opens, closes = tuple(f"<{one}>" for one in written), tuple(f"</{one}>" for one in written)
    return ReasoningMarks(opens, closes, proves=not common, line=common, tag=True)


FINAL = "<|channel|>final<|message|>"
COMMENTARY = "<|channel|>commentary<|message|>"
TABLE = (
    *map(tag, ("think", "thinking", "thought", "reasoning")),  # <thought>: EXAONE Deep
    *map(tag, ("think_fast", "think_faster")),  # K2 V2
    *map(tag, ("mm:think", "seed:think", "longcat_think")),  # MiniMax, Seed
    *map(tag, ("ifm|think", "ifm|think_fast", "ifm|think_faster")),  # K2 Horizon
    *(tag(name, common=True) for name in ("scratchpad", "reflection", "analysis")),
    ReasoningMarks(("<|think|>",), ("<|/think|>",), tag=True, also=("<|end|>",),
          around=("<|begin|>assistant<|content|>", "<|content|>")),  # Solar Open
    ReasoningMarks(("<|think:start|>",), ("<|think:end|>",), tag=True),  # Solar Open 2
    ReasoningMarks(("[THINK]",), ("[/THINK]",), tag=True),  # Magistral
    ReasoningMarks(("◁think▷",), ("◁/think▷",), tag=True),  # Kimi VL
    ReasoningMarks(("<|open|>think<|sep|>",), ("<|close|>think<|sep|>",),
          ("<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>")),  # Kimi K3
    ReasoningMarks(("<|START_THINKING|>",), ("<|END_THINKING|>",),
          ("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>")),  # Command R7B, A; A+
    ReasoningMarks(("<|inner_prefix|>",), ("<|inner_suffix|>",)),  # Apertus
    ReasoningMarks(("<|begin_of_thought|>",), ("<|end_of_thought|>",),
          ("<|begin_of_solution|>", "<|end_of_solution|>")),
    ReasoningMarks(("<|channel>thought\n", "<|channel>thought"), ("<channel|>",)),  # Gemma 4
    ReasoningMarks(("<|message_model|><|content_thinking|>", "<|content_thinking|>"), ("<|end_message|>",),
          ("<|message_model|><|content_text|>", "<|content_text|>"), proves=False),  # Inkling
    ReasoningMarks(("<unused94>thought\n", "<unused94>thought"), ("<unused95>",)),  # MedGemma
    ReasoningMarks(("<|channel|>analysis<|message|>", "<|start|>assistant<|channel|>analysis<|message|>"), ("<|end|>",),
          (FINAL, f"<|start|>assistant{FINAL}", COMMENTARY, f"<|start|>assistant{COMMENTARY}"),
          proves=False),  # harmony
    ReasoningMarks(("Here are my reasoning steps:\n", "Here are my reasoning steps:"), ("[BEGIN FINAL RESPONSE]",),
          ("[END FINAL RESPONSE]",), first=True),  # Apriel
    ReasoningMarks(("Here is my thought process:", "Here's my thought process:"),
          ("Here is my response:", "Here's my response:"), proves=False, first=True),  # Granite 3.2
)  # fmt: skip

OPENING = {mark: row for row in TABLE for mark in row.opens}
BOXES = ("<|begin_of_box|>", "<|end_of_box|>")  # GLM with images: around the answer, or its result
AROUND = frozenset((*BOXES, *(mark for row in TABLE for mark in row.around)))
CLOSING = {mark: row for row in TABLE for mark in row.closes}
PROOFS = MarkerSet(mark for mark, row in CLOSING.items() if row.proves)
OPENINGS = MarkerSet(OPENING)
TAG_ENDS = tuple(mark for mark, row in CLOSING.items() if row.tag)
# Some servers leave out the special tokens of harmony: the words between them stay, glued to the text around them.
ANALYSIS, BARE_ANALYSIS = "analysis", "assistantanalysis"
BARE_HEADS = (BARE_ANALYSIS, "assistantcommentary", "assistantfinal")
# What follows "analysis" where it begins a name in code: `analysisSummary = `, not `analysisWe add`.
NAME_OF_CODE = re.compile(r"\w{1,100}(?:\.\w|[(\[]|\s?[:+-]?=|: ?\w{1,100} ?=)", re.A)
BARE_BEGINNINGS = MarkerSet((ANALYSIS, "commentary to=", *BARE_HEADS))
# A tag that is repeated on a line of its own was meant to close.
ENDS = {
    mark: MarkerSet((*TAG_ENDS, *row.also, f"\n{mark}\n") if row.tag else row.closes) for mark, row in OPENING.items()
} | {
    "": PROOFS,
    ANALYSIS: MarkerSet(BARE_HEADS),
}
NO_WORDS = " \t\r\n\f\v`~"  # may stand after a draft that counts: space, and the end of its fence
SPACES = r"(?:\s|\\n)*"
LONGEST_TAIL = 4000
ANSWER = re.compile(r"\{\{-?\s{0,9}\.Response\b")
BLOCK_END = re.compile(r"\{\{-?\s*end\s*-?\}\}")


def prompt_begins_inside(prompt: str) -> bool:
    """Return whether a rendered prompt ends in a mark that opens reasoning."""
    return prompt.rstrip().endswith(tuple(mark.rstrip() for mark in OPENING))


def template_begins_inside(template: str) -> bool | None:
    """Return whether a chat template opens reasoning at the end of its prompt; None if unclear.

    The text after the last mention of the generation prompt decides: an opening mark there that is not closed at once.
    A template that closes it at once does so if thinking is off. With a lone closing mark there too, either may end the
    prompt. One of Ollama, which has no such word, ends in the mark itself, or before the answer.
    """
    last = template.rfind("add_generation_prompt")
    if last < 0:
        return ("{{" in template and prompt_begins_inside(_prompt_of(template))) or None
    tail = template[last : last + LONGEST_TAIL]
    for mark, row in OPENING.items():
        closed = "|".join(map(re.escape, row.closes))
        left = re.sub(rf"{re.escape(mark.rstrip())}{SPACES}(?:{closed})", "", tail)
        if mark.rstrip() in left:
            return None if any(closing in left for closing in row.closes) else True
    return None


def _prompt_of(template: str) -> str:
    """Return the end of the text that a Go template writes before the answer, without the ends of its blocks."""
    answer = next(iter(deque(ANSWER.finditer(template), 1)), None)
    before = template[: answer.start() if answer else len(template)][-LONGEST_TAIL:].rstrip()
    while before.endswith("}}") and BLOCK_END.fullmatch(before, before.rfind("{{")):
        before = before[: before.rfind("{{")].rstrip()
    return before


class DraftParser(Protocol):
    def feed(self, text: str) -> list[Event]: ...

    def flush(self) -> list[Event]: ...


class ReplyState(Protocol):
    """The answer so far, and the destination of its reasoning: formats/reply_events.py implements it."""

    answer: list[str]
    visible: int
    calls: int
    stray: bool
    quotes: QuoteTracker

    def thinking(self, piece: str) -> None: ...

    def message_ends(self) -> None: ...

    def retract(self, so_far: str) -> list[CallReady]: ...

    def unthink(self, text: str, length: int) -> None: ...


class ReasoningReader:
    """Reads the reasoning of one reply from its `source`; `make_draft` returns a parser for drafted calls.

    `began_inside` is what the reply shows about its beginning (None: nothing), `cut`: a limit ended the reply,
    `stopped`: a stop string may have done so. `just_ended`: nothing was read since reasoning ended.
    """

    def __init__(self, source: TextSource, reply: ReplyState, make_draft: Callable[[], DraftParser]) -> None:
        self._source = source
        self._reply = reply
        self._make_draft = make_draft
        self._open_draft: DraftParser | None = None
        self._drafts: dict[str, CallReady] = {}
        self._native: dict[str, CallReady] = {}
        self._visible = 0
        self._seen = self._separated = False
        self.began_inside: bool | None = None
        self.open = self.cut = self.stopped = self.just_ended = False

    @staticmethod
    def marks_beside(openers: Iterable[str]) -> list[str]:
        """Return all marks to search; a format which reads such marks itself keeps its own."""
        own = tuple(opener for opener in openers if opener.startswith("<|"))
        marks = (*OPENING, *PROOFS.markers, *AROUND)
        return [mark for mark in marks if not mark.startswith(own)]

    def at_mark(self, mark: str) -> Steps[bool]:
        """Read the reasoning that the recorded mark begins or ends; return False if it is text."""
        row = OPENING.get(mark)
        if (yield from self._reply.quotes.holds(self._source)) or (row and not self._may_open(row)):
            return False
        self._source.cut()
        if row:
            self.began_inside = False if not (self._seen or self._reply.visible) else self.began_inside
            yield from self.inside(mark)
        elif mark == BARE_ANALYSIS:
            yield from self.inside(ANALYSIS)
        elif mark in CLOSING:
            self._retract("".join(self._reply.answer))
            yield from self._space()
        else:
            self._reply.message_ends()
        return True

    def _may_open(self, row: ReasoningMarks) -> bool:
        if row.line:
            return self._reply.quotes.begins_line
        return not (row.first and self._reply.visible)

    def assumed(self) -> Steps[None]:
        """Read a reply that begins inside reasoning, unless it repeats the mark or its server splits reasoning off."""
        yield from self._space()
        if self._separated:
            return
        mark = yield from self._source.found(OPENINGS)
        self._source.cut()
        self.began_inside = False if mark else None
        yield from self.inside(mark)

    def bare(self) -> Steps[bool]:
        """Return whether the reply begins with the words of harmony's marks; read its reasoning, if that is first.

        A lower-case letter or a space after the word makes it one of a text: "analysis of".
        """
        source = self._source
        mark = yield from source.marker(BARE_BEGINNINGS)
        if mark == ANALYSIS:
            yield from source.ready(len(mark) + 1)
            following = source.buffer[source.at + len(mark) :][:1]
            if not following.isalpha() or following.islower():
                return False
            source.skip(source.at + len(mark))
            self.began_inside = False
            yield from self.inside(mark)
        return bool(mark)

    def inside(self, mark: str) -> Steps[None]:
        """Read reasoning up to its end mark, any kind if nothing opened it; without one, to the end."""
        source, before, thought = self._source, self._reply.visible, []
        self._begins()
        yield from source.space()
        lead, ends, found = source.cut(), ENDS[mark], None
        while found is None and (source.left or not source.ended):
            found = ends.search(source.buffer, source.at)
            unsure = len(source.buffer) if source.ended else ends.unsure_from(source.buffer, source.at)
            piece = source.skip(found.start() if found else unsure)
            self._think(piece)
            thought.append(piece)
            if found is None and not source.ended:
                yield
        self.open, self.just_ended = False, found is not None
        if found:
            source.skip(found.start() if mark == ANALYSIS else found.end())  # its end is the head of a message
            self.began_inside = self.began_inside if mark else True
            self.keep(self._draft.flush())
            yield from self._space()
        elif not self.cut or (mark == ANALYSIS and NAME_OF_CODE.match("".join(thought))):
            self._never_ended(mark + lead, before, "".join(thought))

    def separated(self, text: str) -> None:
        """Add reasoning that the server itself removed from the text."""
        if not (self._seen or self._reply.visible):
            self.began_inside = False
        if not self._separated or self._reply.visible != self._visible:
            self._begins()
        self._separated, self.open, self.just_ended = True, False, True
        self.keep(self._draft.feed(text))

    @property
    def over(self) -> bool:
        """Return whether reasoning has ended: the rest is the answer."""
        return self._seen and not self.open

    def native_call(self, event: Event) -> bool:
        """Record a native call; return True if it is a draft, since reasoning is open."""
        self.just_ended = False
        if self.open and isinstance(event, CallReady):
            self._native.setdefault(event.raw or event.call.id, event)
        elif isinstance(event, CallReady):
            self._reply.visible += 1
        return self.open

    def after_call(self) -> bool:
        """Return whether an incomplete call contains the mark which ended the reasoning: then it is read again."""
        stray, self._reply.stray = self._reply.stray, False
        return stray and self._read_again()

    def at_end(self) -> bool:
        """Return whether an unclosed fence hid the mark which ended the reasoning."""
        fence = self._reply.quotes.fence or self._reply.quotes.unclosed
        if self._seen or not fence or (self.cut and not self._reply.calls):
            return False
        so_far = "".join(self._reply.answer)
        return PROOFS.search(so_far, max(0, so_far.find(fence))) is not None and self._read_again()

    def drafted(self) -> Sequence[CallReady]:
        """Return the drafts that count, at the end of the reply."""
        if self.cut or self.stopped or self._reply.visible != self._visible:
            return ()
        if self._open_draft is not None:
            self.keep(self._open_draft.flush())
        return tuple({**self._native, **self._drafts}.values())

    def _begins(self) -> None:
        self._reply.message_ends()
        if self._reply.visible != self._visible:
            self._drafts.clear()
            self._native.clear()
        self._visible = self._reply.visible
        self._seen = self.open = True
        self._open_draft, self._reply.quotes = None, QuoteTracker()

    @property
    def _draft(self) -> DraftParser:
        """Return the parser for drafts in the latest reasoning."""
        if self._open_draft is None:
            self._open_draft = self._make_draft()
        return self._open_draft

    def _think(self, piece: str) -> None:
        self._reply.thinking(piece)
        self.keep(self._draft.feed(piece))

    def _never_ended(self, mark: str, before: int, thought: str) -> None:
        """Treat as answer what was taken for reasoning by a guess or a word within an answer."""
        self.keep(self._draft.flush())
        marked = bool(mark.strip())
        first = marked and not before and mark.strip() != ANALYSIS  # which may be a name: "analysisResult"
        if self._drafts or self._native or not thought.strip() or first:
            return
        self.began_inside = self.began_inside if marked else False
        self._reply.unthink(mark + thought, len(thought))

    def _read_again(self) -> bool:
        """Move the text before the last closing mark to the reasoning, and unread the rest."""
        so_far = "".join(self._reply.answer)
        last = PROOFS.last(so_far)
        if self._seen or last is None:
            return False
        self._source.unread(so_far[last.end() :].lstrip())
        self._retract(so_far[: last.start()])
        return True

    def _retract(self, so_far: str) -> None:
        if not self._seen:
            self.began_inside = True
        calls = self._reply.retract(so_far)
        self._begins()
        self.open, self.just_ended = False, True
        self.keep(_at_the_end(so_far, calls))

    def keep(self, events: Iterable[Event]) -> None:
        """Drop a draft that text follows: it was considered and rejected."""
        for event in events:
            if isinstance(event, CallReady):
                self._drafts.setdefault(event.raw or event.call.id, event)
            elif isinstance(event, CallRejected):
                self._drafts.pop(event.raw or event.id, None)
            elif isinstance(event, TextDelta) and event.text.strip(NO_WORDS):
                self._drafts.clear()

    def _space(self) -> Steps[None]:
        yield from self._source.space()
        self._source.cut()


def _at_the_end(text: str, calls: Sequence[CallReady]) -> list[CallReady]:
    """Return the calls that no further words follow in the text."""
    end, first = len(text), len(calls)
    for call in reversed(calls):
        while end and text[end - 1] in NO_WORDS:
            end -= 1
        raw = call.raw.strip(NO_WORDS)
        if not text.endswith(raw, 0, end):
            break
        end, first = end - len(raw), first - 1
    return list(calls[first:])
