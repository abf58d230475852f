"""Turns the codes that rows of chats hold into sentences for people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from toolsupport.core import server_flags

# Notices: a closed list (D4). A row holds the code and the facts; rows of earlier versions hold the sentence.
NOTICES: Mapping[str, str] = MappingProxyType(
    {
        "switched": "Switched to {model}. Tools: {state} ({source})",
        "detecting": "Testing what {model} can do with tools.",
        "detected": "Tested {model}: {verdict}.",
        "inconclusive": "The test of {model} was inconclusive: {why}.",
        "no_answer": "The question was not answered, so tools stay off for {model}.",
        "saved": "Saved for everyone: {model} {verdict}.",
        "proposed": "In this chat {model} {verdict}. Proposed for everyone.",
        "off_for_this_chat": "Tools are off in this chat for {model}.",
        "model_changed": "Model changed. Finishing this round…",
        "fallback": "{model} {failed}. Continuing with {fallback}.",
        "constrained_retry": "Constrained retry: {model} writes the call of {tool} again, in the form of its schema.",
        "tools_cut": "{model} takes fewer tools at once, so {tools} were left out.",
        "tools_refused": "The server refused tools for {model}. Answered without them.",
        "tools_need_setting": "{model} answers without tools.",
        "prompt_too_long": (
            "This conversation and its tools may not fit into the {context} tokens of {model}, which must also hold "
            "the answer. {help}"
        ),
        "tools_no_room": (
            "The {context} tokens of {model} are too few for this conversation with all of its tools. "
            "Left out: {tools}."
        ),
        "context_raised": (
            "This conversation does not fit into {before} tokens, so {model} now gets {context}. "
            "The server reloads the model."
        ),
        "cut_raised": (
            "The server cut the beginning of the request, so this answer may miss something. {model} had {before} "
            "tokens and now gets {context}. The server reloads the model."
        ),
        "context_taken_back": (
            "{model} could not be loaded with {failed} tokens. It is back at {context}, and this size is not tried "
            "again. The server’s answer: {why}."
        ),
        "through_bash": (
            "{model} answered that it cannot reach files. It is asked again, with bash in place of the file tools in "
            "this chat. No shell runs anything: the same tools do the work."
        ),
        "prompt_cut": "The server cut the beginning of the request: {model} has {context} tokens. {help}",
        "read_by_admin": "{person}, an administrator, read this conversation. Reason: {reason}",
        "flag_to_set": server_flags.SENTENCE,
    }
)

# Why an answer ended early: `{}` is the number behind the code in the row.
ENDINGS: Mapping[str, str] = MappingProxyType(
    {
        "by_you": "Stopped by you.",
        "superseded": "Stopped, because you sent a new message instead of an answer.",
        "owner_out": "Stopped, because its owner may no longer chat.",
        "shutdown": "The server stopped during this answer.",
        "process_gone": "The server stopped before this answer was finished.",
        "unsaved": "Stopped, because too much text was waiting to be saved. The text above is saved.",
        "storage": "The database could not be written (is the disk full?), so this answer ends here.",
        "internal": "The server failed. Its log has the reason.",
        "model_changed": "The model was changed during this answer.",
        "most_rounds": "It called tools in {} rounds without finishing.",
        "most_calls": "It made {} calls without finishing.",
        "same_call": "It made the same call {} times.",
    }
)
CODE = re.compile(r"([a-z_]+)(?::(\d{1,9}))?")


def notice(code: str, facts: Mapping[str, str]) -> str:
    """Return the text of a notice. Raises KeyError for an unknown code or a missing fact."""
    return NOTICES[code].format(**facts)


def ending(reason: str) -> str:
    """Return why an answer ended: the words of a code; other texts, as of servers and of old rows, unchanged."""
    found = CODE.fullmatch(reason)
    words = ENDINGS.get(found[1]) if found else None
    return words.format(found[2]) if found and words else reason
