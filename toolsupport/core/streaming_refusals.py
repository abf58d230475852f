"""Recognises servers that accept tools only if the answer is not streamed.

The whole sentence counts, in any order of its words: it names tools, it names streaming, and it denies or limits.
"""

from __future__ import annotations

import re
from re import Match

from toolsupport.core.server_refusal_patterns import MISCONFIGURED, RefusalRule

_STREAM = (
    # Not in the names of Bedrock's operations, ConverseStream and InvokeModelWithResponseStream.
    r"(?<!up)(?<!down)(?<!_)(?<!converse)(?<!response)stream(?!_(?!mode))|流式|串流|ストリー|스트리밍|поток|стрим"
    r"|strumie[nń]|akış|strömning"
)
_TOOLS = re.compile(
    r"(?<![\w-])(?:tools?|functions?)(?:[ _-](?:call|us)\w*)?(?![\w.\[])|\b(?:outil|narzędzi|ferrament|herramient"
    r"|werkzeug|strument|инструмент|gereedschap|funktion|fonction|funcion|funç|funzion|funkcj|функци)\w*"
    r"|工具|函数|函式|ツール|関数|도구|함수"
)
_DENIES = re.compile(
    r"\b(?:not|cannot|no|never|without|only|non|pas|nie|não|nicht|keine?n?|niet|geen|не|нет|disable\w*|false|off"
    r"|unsupported|incompatible|unavailable|incompatibles?|inkompatibel)\b|n't\b|不|仅|只|無法|无法|ません|ない|非対応|않|없"
)
# Refusals of something else: an option, a part of the answer, more than one call.
_ELSE = re.compile(
    r"logprobs?\b|tokenizer|stream[._]options|parallel|tool_choice|response_format|json|\busage\b|audio|image|\blogit"
    r"|(?<!no )\barguments?\b|fine.?grained|并行|並列"
)
_ENDS = re.compile(r"[.!?](?= |$)|[。！？]")


def _conflicts(found: Match[str]) -> bool:
    """Return whether the sentence around the word for streaming names tools and denies something."""
    text = found.string
    begin = max((end.end() for end in _ENDS.finditer(text, 0, found.start())), default=0)
    end = _ENDS.search(text, found.end())
    sentence = text[begin : end.start() if end else None]
    return bool(_TOOLS.search(sentence) and _DENIES.search(sentence)) and not _ELSE.search(sentence)


STREAM_CONFLICT = RefusalRule(MISCONFIGURED, "stream", re.compile(_STREAM), _conflicts)
