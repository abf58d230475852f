"""Recognises answers in which a model claims that it cannot access files; a missing file is no such answer.

A closed list by meaning: the first person (I), an inability (CANNOT), an action on files (REACH). Only the beginning
counts: later on an answer explains things, and may describe what others cannot do.
"""

from __future__ import annotations

import re

SENTENCES = 3
BEGINNING = 600

CANNOT = (
    r"(?:can ?no(?:t|w)|can't|could not|couldn't|am (?:unable|not able)|am not (?:allowed|permitted|capable)|"
    r"(?:do not|don't|lack) (?:currently |actually |really )?(?:the )?(?:have )?(?:the |any |direct )?"
    r"(?:ability|capability|capacity|means|way|permission|tools?)|"
    r"have no (?:direct )?(?:ability|capability|way|means|permission|tools?))"
)
REACH = (
    r"(?:access|read|open|view|see|look at|list|browse|display|show|load|retrieve|inspect|interact with|write|create|"
    r"edit|modify|change|save|append|delete|work with|reach|touch)"
)
THINGS = (
    r"(?:files?|folders?|director(?:y|ies)|file ?systems?|documents?|workspaces?|disks?|"
    r"(?:hard )?drives?|(?:local )?storage|attachments?|"
    r"(?:your|the|this|any) (?:local )?(?:computer|machine|device|system|environment))"
)
# Words that may stand between what is done and what with: not so many that another thing is meant.
BETWEEN = r"(?:[\w'’/-]+,? ){0,6}?"
NO_ACCESS = (
    rf"(?:(?:do not|don't|did not|didn't) (?:currently |actually |really )?have|have no|lack|without)"
    rf" (?:any |the |direct |real |actual |such )*access to {BETWEEN}{THINGS}"
)
DENIALS = (
    re.compile(rf"\bi {BETWEEN}{CANNOT}(?: to| of)? {BETWEEN}{REACH}(?:ing)? {BETWEEN}{THINGS}\b"),
    re.compile(rf"\bi {BETWEEN}{NO_ACCESS}\b"),
)
# A statement about one file or its path comes from a model that looked.
LOOKED = re.compile(
    r"\b(?:does not exist|doesn't exist|no such|not found|find|empty|binary|too large|permission denied)\b"
)


def claims_no_file_access(text: str) -> bool:
    """Return whether the model claims that it has no access to files."""
    plain = " ".join(text[:BEGINNING].replace("’", "'").lower().replace("i'm ", "i am ").split())
    sentences = re.split(r"(?<=[.!?])\s", plain)[:SENTENCES]
    return any(_denies(sentence) for sentence in sentences)


def _denies(sentence: str) -> bool:
    return any(denial.search(sentence) for denial in DENIALS) and not LOOKED.search(sentence)
