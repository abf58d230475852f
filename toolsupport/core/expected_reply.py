"""Reads from a conversation what its next reply may be: work that continues, or an answer about calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import dropwhile

from toolsupport.core import answer_wrapper
from toolsupport.core.formats.announced_calls import Circumstances
from toolsupport.core.types import ChatMessage, Role

# A longer message holds more than a question about calls.
LONGEST_QUESTION = 400
# Words that ask for a text, and near them a call as its object: "Show me a tool call", "How would you write a call".
SHOW = (
    r"show|explain(?! to)|describe|example|looks? like|what would|"
    r"how (?:would|do|should|can) (?:i|you|we|one) (?:write|format|phrase|spell|word)|rewrite|convert|"
    r"zeig|erklär|beispiel|wie (?:sieht|würde|lautet|schreib)|montre|expliqu|exemple|à quoi|comment|muestra|explica|"
    r"ejemplo|cómo|mostr|exemplo|como|spieg|esempio|come|pokaż|wyjaśni|przykład|jak|покаж|объясни|пример|как|"
    r"示例|例子|解释|怎么|如何|展示|例|説明|見せ|どう|예시|예를|설명|보여|어떻게"
)
GO_ON = (
    "that|which|to|for|of|in|on|as|is|be|are written|looks?|would|should|could|can|without|and|or|but|please|works?|"
    "done|made|from|you|i|we|it|like|first|again|now|by|when|if|so|then|only|here|using|at|do|does|must|need|needs|has"
)
CALL = (
    r"\b(?:an?|your|such an?|example|tool|any|the) (?:(?:tool|function|example|valid|delete|mail) )?calls?\b"
    # With a noun after it, the question is about that: a call log, the tool call parser.
    rf"(?![ \t]+(?!(?:{GO_ON})\b)\w)|\byour (?:own )?(?:format|syntax|notation)\b|"
    r"\b(?:call|calling|tool) (?:format|syntax|notation)\b|"
    r"\b(?:aufruf|appel d|llamada|chamada|chiamata|wywołani|вызов)|"
    r"调用|呼び出し|호출"
)
NEAR = r"[^.!?\n]{0,30}"
ABOUT_CALLS = re.compile(rf"(?:{SHOW}){NEAR}(?:{CALL})|(?:{CALL}){NEAR}(?:{SHOW})", re.I)
# A call in a program is looked up.
IN_CODE = re.compile(r"\bin [\w/-]+\.\w{1,5}\b|\w\(\)|\bthe code\b", re.I)
# "Show me how to delete a file", "What would you have written?"
SHOW_HOW = re.compile(
    r"\bshow (?:me|us) how (?:to|(?:i|you|one|we)(?:['’]d| would| could| can)?)\b"
    r"|\bwhat would (?:you|it|a model) (?:have \w+|say|write|answer|call|send)\b"
    r"|\bzeig\w* (?:mir|uns),? wie (?:man|du|ich)\b|\bmontre\w*[- ](?:moi|nous) comment\b|\bmu[ée]stra(?:me|nos) cómo\b"
    r"|\bmostra(?:mi|ci) come\b|\bmostre(?:-me)? como\b|\bpokaż(?: mi)?,? jak\b|\bпокажи\w*(?: мне)?,? как\b"
    r"|(?:演示|展示|给我看|告诉我)(?:如何|怎么)",
    re.I,
)
# "Explain the syntax", "How do I call the weather tool?"
SYNTAX = re.compile(
    r"(?:show|explain|describe|teach|how (?:does|do)|zeig|erklär|montre|expliqu|muéstra|muestra|explica|mostr|spieg|"
    r"pokaż|wyjaśni|покаж|объясни)\w*(?: me| us| mir| uns|-moi| mi)?(?: (?:the|your|its|this|das|die|la|le|el|il|o|a))?"
    r" (?:synta\w+|sintaxis|sintaxe|sintassi|składni\w*|синтаксис\w*|formato?|формат\w*)(?: works?)?(?=\s*(?:[.!?]|\Z))"
    r"|(?:解释|説明|설명)[^.!?\n]{0,6}(?:语法|格式|構文|文法)"
    r"|\bhow (?:to|(?:do|would|can|should|could) (?:you|i|we|one)|you(?:['’]d| would)?) (?:call|invoke)\b"
    rf"(?={NEAR}(?:\btools?\b|\bfunctions?\b|\w_\w))"
    r"|\bparts of (?:a|the) call\b",
    re.I,
)
# "… but do not run it".
NOT_RUN = re.compile(
    r"\b(?:do not|don['’]t|without|never) (?:actually )?(?:run|execut|call|send|do\b|doing|mak)"
    r"|\b(?:review|see|check|read) it (?:first|before)\b"
    r"|\b(?:nicht|ohne es) (?:aus|zu|auf)\w+|\bsans (?:l['’])?(?:exécut|lanc|envoy)|\bn['’]exécut\w+ (?:pas|rien)"
    r"|\b(?:sin|no lo|sem|não o?|senza|non) (?:lo )?(?:ejecut|execut|esegu|llam|cham|chiam|env|inv)\w*"
    r"|\b(?:bez|nie) (?:uruch|wykon|wysył)\w*|\b(?:не|без) (?:запуск|выполн|отправ)\w*"
    r"|(?:不要|别|先别)(?:执行|运行|发送)"
    r"|実行(?:しないで|せずに)|실행하지",
    re.I,
)
# "<system-reminder>…</system-reminder>".
ELEMENTS = re.compile(r"\s*<[\w-]+>.*</[\w-]+>\s*", re.S)
TEXT_WANTED = re.compile(
    rf"{SHOW}|\bsee|\bdraft|\bgive|\bwrite|schreib|écri|escrib|escrev|scriv|napisz|напиши|写|書|써", re.I
)


def circumstances(
    messages: Sequence[ChatMessage], is_result: Callable[[str], bool], called_for: bool = False
) -> Circumstances:
    """Return the findings from the log about the reply to its last entry; `called_for`: the request demands a call."""
    tags = answer_wrapper.named(messages)
    if called_for:
        return Circumstances(is_result, continues=True, tags=tags)
    logged = [one for one in messages if one.role not in (Role.SYSTEM, Role.NOTICE)]
    before = list(dropwhile(_is_reminder, reversed(logged)))[::-1]
    logged = before if before and before[-1].role is Role.TOOL else logged
    asked = next((one.content for one in reversed(logged) if one.role is Role.USER), "")
    follows = bool(logged) and logged[-1].role is not Role.USER
    form = is_about_form(asked) and not follows
    return Circumstances(is_result, continues=follows, about_calls=is_about_calls(asked), about_form=form, tags=tags)


def _is_reminder(message: ChatMessage) -> bool:
    """Whether a message consists of elements: agents put such reminders after the results of tools."""
    return message.role is Role.USER and ELEMENTS.fullmatch(message.content) is not None


def is_about_form(text: str) -> bool:
    """Whether a person asks how a call is written."""
    return len(text) <= LONGEST_QUESTION and not IN_CODE.search(text) and SYNTAX.search(text) is not None


def is_about_calls(text: str) -> bool:
    """Whether a person asks to see a call or how one is written, or wants nothing to run."""
    if len(text) > LONGEST_QUESTION or IN_CODE.search(text):
        return False
    return bool(
        ABOUT_CALLS.search(text)
        or SHOW_HOW.search(text)
        or is_about_form(text)
        or (NOT_RUN.search(text) and TEXT_WANTED.search(text))
    )
