"""Reads the words before a call, as in `Reading the file: <call>`, and decides whether they announce it.

A sentence that has ended matters only if it asks something, waits for a permission, or points at what follows ("It is
written thus."). Words that lead to the call do: a call is meant after words of the first person, an order, an -ing
form, a word for an action or its place in an order ("Now", "Step 2"), and after words that name what the call is
about. Any other words are a label ("Riddle:"): the call is shown.
"""

from __future__ import annotations

import re

from toolsupport.core.formats.intent_words import (
    ACTIONS,
    FIRST_PERSON,
    GIVEN,
    OPENINGS,
    SHOWN_BY,
    TEXTS,
    UNSPACED,
)
from toolsupport.core.formats.pointing_words import ASKED, PERMISSION, QUESTION, THUS, WILL
from toolsupport.core.types import ToolCall

SENTENCE = re.compile(r"[.!?…](?=[\s*_)\"'’”]|\Z)|[。！？।։؟]")
MARKS = re.compile(r"<[^<>]{0,200}>|https?:\S+")
NUMBERING = re.compile(r"\A[\W_]*(?:(?:\d{1,4}|[a-zA-Z])[.)\]] +)?")
# A single Latin letter is a label, not a word.
A_WORD = re.compile(r"[^\W\d_]{2}|[^\W\d_a-zA-Z]")
LED = re.compile(r"\A.*?: (?=\w)")
LISTED = re.compile(r"[ \t]*[-*+•] ")
# A heading, or at most four words that no punctuation ends.
TITLE = re.compile(r"[\W_]*(?:\w[\w'’-]*[ *_]*){1,4}\Z")
ENDED = re.compile(r"[.!?…。！？।։؟][*_)\"'’”\s]*\Z")
WORD = re.compile(r"[^\W\d_]+")
SHORTEST_WORD = 3
UNENDED = re.compile(r"\w[ \t*_]*\Z")
# An act of the first person at another time announces nothing: "I sent one mail yesterday:"
PAST = re.compile(
    r"\b(?:yesterday|last (?:time|night|week|month|year|spring|summer|autumn|winter|\w+day)|previously|ago|back then|"
    r"gestern|neulich|(?:letzte|vorige)[nrs]? (?:mal|nacht|woche|monat|jahr)|avant-hier|la semaine dernière|"
    r"la dernière fois|ayer|anoche|la (?:última vez|semana pasada)|ieri|l['’]ultima volta|ontem|da última vez|gisteren|"
    r"vorige (?:keer|week)|igår|i går|wczoraj|ostatnio|včera|вчера|вчора|в прошлый раз|tegnap|dün|hôm qua|kemarin)\b"
    r"|昨天|昨日|昨晚|上次|前回|어제|지난|أمس",
    re.I,
)
ANEW = re.compile(
    r"\b(?:will|['’]ll|let me|let['’]s|now|again|need|jetzt|maintenant|ahora|ora|agora|nu|teraz|сейчас)\b", re.I
)
# Its first person is that of a story.
SUPPOSED = re.compile(
    r"\W*(?:(?:now|just|so|for example),? )?(?:imagine|suppose|supposing|assum(?:e|ing)|pretend|angenommen|"
    r"stell\w* (?:dir|euch|sie sich) vor|imagin(?:ez|ons|a|emos)|suppos(?:ez|ons)|supón|supongamos|immagin\w+|"
    r"supponi\w+|suponha\w*|stel je voor|wyobraź|załóżmy|представь\w*|допустим|предположим|уяви\w*|припустимо)\b"
    r"|假设|假設|假如|想象|想像|もし|仮に|만약",
    re.I,
)
WITHOUT = re.compile(r"\b(?:without|ohne|sans|sin|senza|sem|zonder|utan|uden|uten|bez|без)\b|不带|なしで|없이", re.I)
FEW = 2  # words: "Tool call"
STEM = 5
LONGEST_VALUE = 200
# "Reading the file", but no thing or text that ends so: "Greeting", "Training data".
ING = re.compile(
    r"\A(?:(?:now|so|then|just|also|and|or|quickly|first|next|currently|still|ok|okay|not found|sure|great)[, ]+)*"
    r"(?!(?:\w*(?:thing|string|spring|melding|leiding|taling|vning|oefening|ledning|lösning|setning|tegning|"
    r"tekening)|king|ring|wing|evening|morning|building|ceiling|wedding|warning|greeting|saying|heading|painting|drawing|"
    r"recording|listing|meeting|training|spelling|meaning|beginning|ending|(?:open|clos)ing (?:line|words?|remark)|"
    r"engraving|carving|lettering|writing on|clipping|finding \d|ruling|briefing|blessing|rating|marketing|pudding|"
    r"sibling|darling|during|according|being|interesting|amusing|missing|existing|following|preceding|conflicting|"
    r"misleading|competing|leading|winning|surprising|shocking|boring|shopping)\b)"
    r"(?:[a-z]+-)?[a-z]{2,}ing\b",
    re.I,
)
# "Now" at the beginning or the end, with any other words.
AT_ONCE = re.compile(r"\A(?:now|then|next)\b|\b(?:now|next|first|time)\W*\Z", re.I)
# An order, as in "Delete the file": a word that is no preposition, and an article, pronoun or name of a file after it.
ORDER = re.compile(
    r"\A(?!(?:if|when|while|whether|although|though|unless|wer|was|wenn|wie|qui|quand|si|quien|cuando|chi|quando|quem|"
    r"in|on|at|from|under|over|above|below|behind|beside|near|inside|within|into|of|by|about|like|between|"
    r"against|across|all|half|both|what|which|who|how|why|quite|such|many|said|says|not|never|is|was|are|were|"
    r"meet|imagine|picture|recall|remember|behold|cue|enter|"
    r"auf|unter|über|neben|hinter|vor|aus|bei|von|sur|sous|dans|de|du|chez|sobre|en|bajo|desde|su|sotto|da|sob|em|"
    r"op|onder|uit|bij|van|\w+(?:ed|en))\b)"
    r"[^\W\d_]+ (?:(?:the|this|that|these|those|an?|it|them|every|each|any|your|its|die|den|das|eine?n?|le|la|les|"
    r"l['’]|une?|el|los|las|il|lo|gli|i|un[ao]?|o|os|as|uma?|het|een)\b|[\w./-]+\.[a-z]{1,5}\b)",
    re.I,
)


def is_label(words: str, *, takes_object: bool = False) -> bool:
    """Whether these words before a call, from the beginning of its line, lead to it and announce no call.

    `takes_object`: they are on its line. Without a sign at their end the call is their object: "the job runs <call>".
    """
    words = MARKS.sub(" ", words).replace("_", " ")
    if ENDED.search(words):
        return False
    sentences = SENTENCE.split(words)
    last = NUMBERING.sub("", sentences[-1])
    if not A_WORD.search(last) or any(map(FIRST_PERSON.search, sentences)):
        return bool(GIVEN.search(last))
    if ING.match(last) or ING.match(LED.sub("", last)) or AT_ONCE.search(last) or UNSPACED.search(last):
        return False
    if TEXTS.search(last) or SHOWN_BY.search(last):
        return True
    if ORDER.match(last) or OPENINGS.match(last):
        return False
    return not ACTIONS.search(last) or bool(takes_object and UNENDED.search(last) and len(WORD.findall(last)) > FEW)


def asks_or_points(words: str) -> bool:
    """Whether words before a call ask the reader something, or whether their last sentence is about the call."""
    sentences = [one for one in SENTENCE.split(MARKS.sub(" ", words)) if A_WORD.search(one)]
    if not sentences or PERMISSION.search(words):
        return bool(sentences)
    last = NUMBERING.sub("", sentences[-1])
    if ASKED.search(words):
        return True
    if FIRST_PERSON.search(last) and PAST.search(last) and not (ENDED.search(words) or ANEW.search(last)):
        return True
    if (FIRST_PERSON.search(last) and not SUPPOSED.match(last)) or WILL.search(last) or ING.match(last):
        return False
    return bool(QUESTION.search(words) or THUS.search(last))


def is_title_of_text(line: str) -> bool:
    """Whether a whole line is the title of a text, as in `**Riddle of the week**`."""
    return bool(not LISTED.match(line) and TITLE.match(line) and TEXTS.search(line)) and is_label(line)


def names_the_call(words: str, call: ToolCall, *, whole: bool = False) -> bool:
    """Whether the words name the tool or a short value of its call, as in `Weather in Paris:`.

    `whole`: a part of a value is not enough, and "Deleting without a backup" is the title of a text.
    """
    short = [value for value in call.arguments.values() if isinstance(value, str) and len(value) <= LONGEST_VALUE]
    if whole and any(value.lower() in words.lower() for value in short if A_WORD.search(value)):
        return True
    values = [value for value in short if not whole or "(" in value]  # a program names the calls in it
    named = {stem for text in (call.name.replace("_", " "), *values) for stem in _stems(text)}
    return not named.isdisjoint(_stems(words)) and not (whole and WITHOUT.search(words))


def _stems(text: str) -> set[str]:
    return {word.lower()[:STEM] for word in WORD.findall(text) if len(word) >= SHORTEST_WORD}
