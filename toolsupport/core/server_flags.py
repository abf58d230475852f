"""Lists the settings that servers need for tools, with the parser of a model's family."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from toolsupport.core.families import FAMILIES
from toolsupport.core.sentences import SENTENCES

# Kind of server → how to start it with support for tools, and its name in the family table.
FLAGS: Mapping[str, str] = {
    "vllm": "--enable-auto-tool-choice --tool-call-parser {parser}",
    "sglang": "--tool-call-parser {parser}",
    "llamacpp": "--jinja",
}
# They leave a call in the text if their parser cannot read it. llama-server does that with a call in any unsupported
# form, whatever its options: without templates it refuses tools.
LEAVE_IN_TEXT = frozenset({"vllm", "sglang"})
NO_PARSER = "NAME"
# Formats that no family writes → one of which every parser reads this too.
OF_FAMILIES = {"mistral": "mistral_json"}
# The one sentence about a missing setting. Pages show what stands in backquotes as code.
SENTENCE = SENTENCES.templates["needs_setting"]

# Words of an error that only one server writes, also through a gateway.
_MARKS = (("--jinja", "llamacpp"), ("--enable-auto-tool-choice", "vllm"))
_PARSER = re.compile(r"tool[-_ ](?:call[-_ ])?parser", re.I)
_FLAG = re.compile(r"--[a-z][\w-]+")
# Rules of server_refusal_rules.py whose errors the settings of FLAGS cure.
_CURED = frozenset({"flag", "old-server", "switched-off"})


def of(kind: str, parsers: Mapping[str, str]) -> str:
    """Return how to start a server of this kind for a family with these `parsers`, "" if unknown."""
    return FLAGS.get(kind, "").format(parser=parser_of(kind, parsers) or NO_PARSER)


def sentence(flag: str) -> str:
    """Return the sentence for people about a setting that a server lacks."""
    return SENTENCES.sentence("needs_setting", flag=flag.replace("`", "'"))


def left_in_text(kind: str, written: str, parsers: Mapping[str, str]) -> str:
    """Return the setting with which this kind of server would have parsed a call in this format.

    "" if no parser of the server reads the format: then the model writes its calls as text.
    """
    reading = _readers(kind).get(OF_FAMILIES.get(written, written), ())
    own = parser_of(kind, parsers)
    if not reading:
        return ""
    return FLAGS[kind].format(parser=own if own in reading else written if written in reading else reading[0])


@cache
def _readers(kind: str) -> Mapping[str, tuple[str, ...]]:
    """Map each format to the parsers of this kind of server that read it: those of the families that write it."""
    found: dict[str, tuple[str, ...]] = {}
    for family in FAMILIES if kind in LEAVE_IN_TEXT else ():
        parser = parser_of(kind, family.parsers)
        if parser and family.call_format:
            found[family.call_format] = (*found.get(family.call_format, ()), parser)
    return found


def parser_of(kind: str, parsers: Mapping[str, str]) -> str:
    """Return the name for the command line, without the table's remarks and alternatives."""
    found = re.match(r"[\w.-]+", parsers.get(kind, ""))
    return found[0] if found else ""


def needed(words: str, rule: str, kind: str, parsers: Mapping[str, str]) -> str:
    """Return the setting to change after this message of a server; "" if it names none."""
    server = _server(words, rule, kind)
    written = " ".join(dict.fromkeys(_FLAG.findall(words)))
    if server == "llamacpp" or (server and (server == kind or parser_of(server, parsers))):
        return of(server, parsers)
    return written or words


def _server(words: str, rule: str, kind: str) -> str:
    """Return the server that the setting belongs to."""
    stated = next((server for mark, server in _MARKS if mark in words), "")
    if stated or kind not in FLAGS:
        return stated
    return kind if _PARSER.search(words) or (rule in _CURED and not _FLAG.search(words)) else ""
