"""Recognises results that report that an action did not happen, and results that confirm one."""

from __future__ import annotations

import re

from toolsupport.simulator.types import JSON

_ENDED = "denied|refused|rejected|declined|withheld|cancel+ed|aborted|expired"
_RIGHTS = "permission|approval|authori[sz]ation|access|rights?"
# Errors of tools, and reports of programs about a call that a person or the program did not allow.
_WRONG = (
    r"^\W*(?:error|failed|failure|exception|traceback|denied|refused|cannot|can't|could not|no result|not run)\b",
    rf"^\W*(?:{_ENDED}|interrupted|blocked|forbidden|unauthori[sz]ed|stopped|skipped|unable to|timeout\W*$)\b",
    r"no such|does not exist|not found\b|timed out|timeout\W*$|took longer than",
    r"cannot be used|is a directory|is not an?\b|is a link|is needed, as",
    r"\bnot (?:run|executed|performed|allowed|permitted|approved|authori[sz]ed|finished|carried out|connected)\b",
    r"\bnot (?:what was|enough room)\b|\b(?:did|does|do|will|would) not (?:allow|permit|approve|let|fit|accept)\b",
    r"\b(?:didn't|doesn't|won't) allow\b|\b(?:nobody|no one) (?:allowed|approved|answered)\b",
    r"\ballowed too long ago\b|\bwould have to allow\b|\bneeds a (?:permission|person|conversation)\b",
    rf"\b(?:was|were|has been|user|person|human) (?:just )?(?:{_ENDED}|stopped|blocked|interrupted|skipped|revoked"
    r"|taken back|switched off|disabled)\b|\bstopped this tool\b",
    rf"\b(?:request|call|action|operation|tool|{_RIGHTS}) (?:to \w+ )?(?:is |was |has )?(?:{_ENDED}|failed|over)\b",
    rf"\b(?:no|without|lacks?|missing|insufficient|not have|don't have) (?:the )?(?:{_RIGHTS})\b",
    rf"\b(?:{_RIGHTS}) (?:needed|required|missing)\b",
    r"\bthere is (?:no|not) (?:tool|prompt|database|room|enough|such)\b|\bnothing (?:was|can be)\b",
    r"\bcould not be (?:run|stored|reached|read|written)\b|\bredefined\b",
    r"\bfailed\. the server.s log\b|\bno longer (?:matches|be called)\b",
)
WRONG = re.compile("|".join(_WRONG), re.IGNORECASE)
# An action counts as done only if its result confirms it, is empty, or is data. A denial in unforeseen words is then
# quoted instead of being taken for a success.
DONE = re.compile(
    r"\b(?:wrote|written|saved|created|updated|replaced|replacing|changed|edited|modified|added|appended|stored|inserted"
    r"|overwritten|remembered|noted|success\w*|succeeded|done|ok|okay|completed?|applied|true)\b|^\W*$",
    re.IGNORECASE,
)
NOT_DONE = re.compile(
    r"\b(?:not|never|nothing|no|cannot|without|unable|unchanged|unsaved|fail\w*|error|den(?:ied|y|ies)|refus\w*|reject\w*"
    r"|declin\w*|expired?|cancel\w*|abort\w*|stop(?:ped)?|block\w*|forbid\w*|would|will|should|pending|wait\w*|needs?|must"
    r"|invalid)\b|n't\b",
    re.IGNORECASE,
)
# Names of files and quoted words do not count.
ASIDE = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"|[\w./-]*\.[a-z]\w{0,6}\b|\([^)]*\)", re.IGNORECASE)
# How an object reports a failure: by a flag or by a state.
GOOD_FLAGS = ("success", "ok", "allowed", "approved", "executed")
BAD_FLAGS = ("isError", "is_error", "denied", "failed")
STATES = ("status", "state", "outcome", "decision")
FAILED = re.compile(rf"(?:{_ENDED}|canceled|error|failed|failure|timeout)", re.IGNORECASE)


def reports_failure(value: JSON) -> bool:
    """Return whether a flag or a state of an object reports a failed call."""
    flagged = any(value.get(name) is False for name in GOOD_FLAGS) or any(value.get(name) is True for name in BAD_FLAGS)
    states = (value.get(name) for name in STATES)
    return flagged or any(isinstance(state, str) and FAILED.fullmatch(state) for state in states)


def confirms(sentence: str) -> bool:
    """Return whether the first line of a result confirms an action."""
    plain = ASIDE.sub("", sentence)
    return bool(DONE.search(plain)) and not NOT_DONE.search(plain)
