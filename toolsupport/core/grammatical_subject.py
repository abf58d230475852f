"""Decides from the subject of a sentence in English whether it is about a model."""

from __future__ import annotations

import re
from re import Match

# Where the clause begins that holds the subject.
_BOUNDARY = re.compile(r".*(?:[.:;!?](?= )|[,(){}\[\]]| - |\b(?:because|since|but|so|which|that) )", re.S)
_VERB = re.compile(r" ?(?:does|do|did|can|could|will|is|are|has|have)? ?$")
# Describes the model before it: "the model that you are using", "the model you selected".
_YOURS = re.compile(r"(?<=model)(?: that| which)? you(?:'re| are|'ve| have)? \w{1,20}$")
_DETERMINERS = re.compile(
    r"\b(?:the|this|that|an?|your|our|its|selected|requested|provided|chosen|current|error|sorry)\b"
)
# The words after these only describe the subject: "the template of this model".
_DESCRIPTION = re.compile(r" (?:of|for|in|on|with|from|behind|by) ")
_MODEL = re.compile(r"\b(?:models?|llms?|it|they)\b")
_NAME = re.compile(r"\d|\w[/:@_-]\w|['`\"]")


def is_a_model(match: Match[str]) -> bool:
    """Return whether the subject before a match is a model, a name, or one word.

    Several plain words are something else: audio output, guided decoding, the chat template.
    """
    before = match.string[max(0, match.start() - 160) : match.start()]
    clause = _VERB.sub("", _BOUNDARY.sub("", _YOURS.sub("", _VERB.sub("", before))))
    subject = _DESCRIPTION.split(f" {clause} ", maxsplit=1)[0]
    if _MODEL.search(subject) or _NAME.search(subject):
        return True
    return len(_DETERMINERS.sub("", subject).split()) < 2
