"""Decides whether the words around a call that changes something announce it: see docs/decisions/031.

With any other words the call is only shown. A needless read does no harm; a deleted file cannot be restored.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from toolsupport.core.formats import call_intent, example_cues
from toolsupport.core.formats.intent_words import ACTIONS, FIRST_PERSON, UNSPACED_PERSON

NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
READS = re.compile(
    "get|read|list|search|find|fetch|look|lookup|query|show|view|describe|check|count|browse|grep|glob|ls|cat|inspect|"
    "retrieve|calculate|compute|weather|forecast|info|status|time|date"
)
CHANGES = re.compile(
    "write|delete|remove|create|update|set|put|post|send|edit|move|rename|add|replace|run|execute|insert|drop|clear|"
    "reset|kill|stop|start|patch|upload|save|change|book|buy|pay"
)
# Statements of the English first person: "I like", "I changed"; announcements have "I will", "I am", "I need".
STATED = re.compile(
    r"\b(?:i|we)(?:['’](?:d|ve)(?! like)| (?!(?:will|shall|am|are|need|want|have to|must|should|can|could|would like|"
    r"now|wait|first|next|then|also|just|start|begin|continue|try|call|use|run|proceed)\b)[a-z]+)\b",
    re.I,
)
WILL = re.compile(
    r"\b(?:(?:i|we)(?:['’]ll| will|['’]m| am|['’]re| are)|let me|let['’]s|let us|allow me)(?! (?:sorry|afraid|not))\b",
    re.I,
)
NOW = re.compile(r"\bnow\W*\Z", re.I)
# "Enviando el correo."
GERUND = re.compile(
    r"\A\W*(?:(?:ok|okay|sí|sim|certo|claro|bien|ora|ahora|agora)[, ]+)?(?![cq]uando)\w{2,}[aei]ndo\b", re.I
)
# "The file is now being deleted."
IN_PROGRESS = re.compile(
    r"\b(?:(?:is|are) now being \w|(?:wird|werden) (?:jetzt|nun|sofort|gleich)|wordt nu|worden nu"
    r"|(?:est|sont) (?:maintenant|actuellement) en (?:train|cours) d)\b",
    re.I,
)
# The conditional of the first person, or of its reply: "I could run", "würde ich"; what it would like it does.
_WOULD = re.compile(
    r"\b(?:(?:i|we|(?:reply|answer|message|response|output|call|command)) (?:could|might|would)\b|(?:i|we)['’]d|"
    r"would (?:have been\b|be\W*\Z))"
    r"(?! (?:\w+ )?(?:like|love|better|rather|prefer|be (?:happy|glad|pleased|delighted)|appreciate)\b)"
    r"|\b(?:(?:würde|könnte|müsste) (?:ich|wir)|(?:ich|wir) (?:würden?|könnten?|müssten?))\b(?! \w*gern)"
    r"|\b(?:je|j['’])\s?(?!voud|aime)\w+rais\b|\b(?:ik zou|zou ik|wij zouden|zouden we)\b(?! graag)"
    r"|\b(?:ejecuta|llama|usa|borra|elimina|escribi|envia)ría\b|\b(?:executa|chama|usa|apaga|exclui|envia)ria\b"
    r"|\b(?:pot|dov|esegui|chiame|use|cancelle|elimine|scrive|invie|fa)rei\b"
    r"|\bя бы\b|\bбы я\b|\b\w{2,}ł[ao]?bym\b|\bbych\b|\b(?:jag skulle|skulle jag|(?:jeg|eg) (?:ville|kunne)|"
    r"(?:ville|kunne) jeg)\b|\b\w{3,}isin\b|\b\w{2,}[aeıiuü]r[dt][ıiuü]m\b",
    re.I,
)
# Conditions for the reader: "once you have a backup", "after approval".
_AWAITS = re.compile(
    r"\b(?:if|once|unless|until|in case|as soon as|provided(?: that)?) you(?:['’](?:ve|re|d))?\b"
    r"|\b(?:falls|wenn|sobald|sofern) (?:du|sie|ihr)\b|\b(?:si|dès que|une fois que) (?:vous|tu)\b"
    r"|\b(?:si|cuando) (?:lo |la |te |le )?(?:quier|dese|prefier|parec|gust|est[áa]s)\w*"
    r"|\b(?:(?:om|hvis) du|als (?:je|u)|jos (?:haluat|sinä))\b|\b\w{2,}s[ae]n[ıi]z\b"
    r"|\b(?:se|quando) (?:lo |la |ti |vi |você )?(?:vuoi|volete|desider|prefer|quis|dese|quer)\w*"
    r"|\b(?:если|когда) (?:вы|ты)\b|\b(?:jeśli|gdy) (?:chcesz|pan)\b|如果[你您]"
    r"|我(?:可能|也许|或许)|よろし(?:ければ|かったら)|원하시면"
    r"|(?:許可|確認|承認|同意)[^。\n]{0,8}(?:れば|たら|なら)"
    r"|\b(?:(?:only )?after|pending|await(?:s|ing)?|upon|without|subject to|until|requir\w+|needs?|"
    r"(?:wait|ask)\w* for)\b(?!,)[^.,!?]{0,20}"
    r"\b(?:approval|confirmation|permission|consent|go-ahead|sign-?off|review)\b"
    r"|\b(?:après|tras|después de|dopo|após|depois d[aeo]|nach|na|efter|etter|po|после|після)\b[^.,!?]{0,20}"
    r"\b(?:confirm|autori[sz]|aprob|approv|aprov|acuerdo|conferm|consens|bestätig|zustimm|freigab|goedkeur|bevestig|"
    r"bekr[äæe]f|godk|potwierdz|potvrz|подтвержд|одобр|соглас|підтвердж)"
    r"|\bconfirmation of (?:this|the following)\b"
    r"|\A\W*(?:please )?(?:review|check|confirm|approve|inspect|verify|look at)\b.*\bbefore (?:i|we)\b",
    re.I,
)
# Requests of another person to the first person.
_WANTED = re.compile(
    r"\b(?:woll|will|verlang|bat\b|bitt|forder|möcht|befahl|befiehl|sag|versuch)\w*[^.!?]{0,60}\bdass ich\b"
    r"|\b(?:voulai|veu|demand|exig|di)\w*[^.!?]{0,20} que (?:je\b|j['’])"
    r"|\b(?:wilde|wil|vroeg|eist\w*)\b[^.!?]{0,20}\bdat ik\b|\b(?:хоте|хоч|прос|требо|потребо)\w*[^.!?]{0,20}чтобы я\b"
    r"|\b(?:chcia|chce|żąda)\w*[^.!?]{0,20}żebym\b|\b(?:vill|ville|vil|bad|ber)\b[^.!?]{0,20}(?:att|at) (?:jag|jeg)\b",
    re.I,
)
# The past, with the call as the end of the sentence: "For the record, the denied call was:".
_WAS = re.compile(
    r"\b(?:was|were|waren|war|était|étaient|fue|fueron|era|eran|foi|foram|furono|werd|był[ao]?|byl[ao]?|был[ао]?)\b",
    re.I,
)
# A heading, a bold title or an entry of a list is the next part of a text.
TITLE = re.compile(r"\s*(?:(?:#{1,6}|\d{1,4}[.)]|[-+•*])\s.*|\*{1,2}[^*.!?]+\*\*(?:\W*|\s.*))", re.S)
# "Deleting takes one argument": an -ing form that is the subject of a verb.
SUBJECT = re.compile(r"\A\W*\w+ing(?: \w+){0,2} \w*[^\Ws]s (?:an?|the|it|one|two|no|only|nothing|its|as)\b", re.I)
# Words of a sentence that adds nothing ("On it.", "Almost there!"), and of one that may name what the tool does.
BRIEF, SHORT = 3, 5
SPACED = re.compile(r"[\w'’-]+")


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a conversation shows about the calls of a reply.

    `is_result` returns whether a tool returned a text before. `continues`: the reply follows the results of tools,
    where models write about those and call again. `about_calls`: the person wants to see a call. `about_form`: the
    person asks how a call is written, so that one of a tool which only reads is shown, too. `tags` are the names of the
    tags around an answer that the request holds, so that they are shown.
    """

    is_result: Callable[[str], bool] = lambda _raw: False
    continues: bool = False
    about_calls: bool = False
    about_form: bool = False
    tags: frozenset[str] = frozenset()


def only_reads(name: str) -> bool:
    """Whether a tool of this name changes nothing: one of its words is a verb of reading, and none of changing."""
    words = [word.lower() for word in NAME_WORD.findall(name)]
    return any(map(READS.fullmatch, words)) and not any(map(CHANGES.fullmatch, words))


def announces(words: str) -> bool:
    """Whether the last sentence of these words announces what the model does at once, as in `I'll delete it.`"""
    sentences = _sentences(words)
    return bool(sentences) and (_acts(sentences[-1]) or any(map(WILL.search, sentences)))


def withholds(words: str) -> bool:
    """Whether the last sentence of these words is about a call that might be made: by a condition, or by others."""
    last = next(reversed(_sentences(words)), "")
    if _AWAITS.search(last) or _WANTED.search(last):
        return True
    if _WAS.search(last) and not (call_intent.ENDED.search(words) or _acts(last)):
        return True
    return bool(_WOULD.search(last)) and not (WILL.search(last) or NOW.search(last))


def leads_on(words: str) -> bool:
    """Whether the sentence that ended before a call leads on to it: it announces it, or it is short ("Okay.").

    Words that lead to the call without an end are judged as a label.
    """
    sentences = _sentences(words)
    if not sentences or not call_intent.ENDED.search(words) or announces(words):
        return True
    last, length = sentences[-1], _length(sentences[-1])
    short = length <= BRIEF or (length <= SHORT and not call_intent.is_label(last))
    return short or (bool(FIRST_PERSON.search(last)) and not call_intent.SUPPOSED.match(last))


def continues_below(sentence: str) -> bool:
    """Whether a sentence below a call is one that a model writes after a call that it made."""
    if example_cues.USER.match(sentence) or example_cues.AFTERWARDS.match(sentence.strip()) or announces(sentence):
        return True
    length, labelled = (
        _length(sentence),
        any(one in sentence for one in example_cues.COLONS) or TITLE.fullmatch(sentence),
    )
    return not labelled and (length <= BRIEF or (length <= SHORT and bool(ACTIONS.search(sentence))))


def _length(sentence: str) -> int:
    """Count the words of a sentence; in scripts without spaces two characters are one."""
    words: list[str] = SPACED.findall(sentence)
    return sum((len(word) + 1) // 2 if unicodedata.category(word[0]) == "Lo" else 1 for word in words)


def _sentences(words: str) -> list[str]:
    return [
        one for one in call_intent.SENTENCE.split(call_intent.MARKS.sub(" ", words)) if call_intent.A_WORD.search(one)
    ]


def _acts(sentence: str) -> bool:
    sentence = call_intent.NUMBERING.sub("", STATED.sub(" ", sentence))
    if FIRST_PERSON.search(sentence) or UNSPACED_PERSON.search(sentence) or NOW.search(sentence):
        return True
    if IN_PROGRESS.search(sentence):
        return True
    starts = (sentence, call_intent.LED.sub("", sentence))
    return any(map(GERUND.match, starts)) or (any(map(call_intent.ING.match, starts)) and not SUBJECT.match(sentence))
