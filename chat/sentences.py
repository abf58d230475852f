"""Defines the closed list of the chat's notices: codes with their texts (D4)."""

from __future__ import annotations

from toolsupport.core import server_flags

NOTICES = {
    "switched": "Switched to {model}. Tools: {state} ({source})",
    "detecting": "Testing what {model} can do with tools.",
    "detected": "Tested {model}: {verdict}.",
    "inconclusive": "The test of {model} was not conclusive: {why}.",
    "no_answer": "No answer was given, so tools stay off for {model}.",
    "saved": "Saved for everyone: {model} {verdict}.",
    "proposed": "In this chat {model} {verdict}. Proposed for everyone.",
    "off_for_this_chat": "Tools are off in this chat for {model}.",
    "model_changed": "Model changed. Finishing this round…",
    "fallback": "{model} {failed}, so it goes on with {fallback}.",
    "tools_cut": "{model} is given fewer tools at once, so it goes on without {tools}.",
    "tools_refused": "The server refused tools for {model}. Answered without them.",
    "tools_need_setting": "{model} answers without tools.",
    "prompt_too_long": (
        "This conversation with its tools seems longer than the {context} tokens {model} is given, less room for an "
        "answer. {help}"
    ),
    "tools_no_room": (
        "{model} is given {context} tokens, too few for this conversation with all of its tools. "
        "It is asked without {tools}."
    ),
    "context_raised": (
        "This conversation would not fit into the {before} tokens {model} was given, so it is given {context} from now "
        "on. Its server reloads it for that."
    ),
    "cut_raised": (
        "The server cut off a part of what {model} was sent, so this answer may miss something. It was given {before} "
        "tokens, and is given {context} from now on. Its server reloads it for that."
    ),
    "context_taken_back": (
        "{model} could not be loaded with {failed} tokens, so it is given {context} again, and as much is not tried "
        "any more. Its server answered: {why}."
    ),
    "through_bash": (
        "{model} replied that it cannot reach files. It is asked again, with bash instead of the tools for files"
        " in this chat. Nothing of it is run by a shell: the same tools do the work."
    ),
    "prompt_cut": ("The server cut off a part of what {model} was sent: it is given {context} tokens. {help}"),
    "read_by_admin": "{person}, an administrator, read this conversation. The reason given: {reason}",
    "flag_to_set": server_flags.SENTENCE,
}


def text(code: str, **facts: str) -> str:
    """Return the text of a notice. Raises KeyError for an unknown code or a missing fact."""
    return NOTICES[code].format(**facts)
