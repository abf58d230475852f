"""Tries whether the model writes calls as text, in a format that can be read."""

from __future__ import annotations

from toolsupport.core.formats import FORMATS
from toolsupport.core.verdicts import FORMAT_TRIALS
from toolsupport.detection.judging import judge
from toolsupport.detection.laboratory import Laboratory, Question
from toolsupport.detection.questions import TOOLS, demand

# Worth trying with any model; each of them reads the neighbours that differ only in their marks.
GENERAL = ("hermes", "llama3_json", "pythonic", "mistral", "qwen3_coder_xml")


def formats_for(family: tuple[str, ...]) -> tuple[str, ...]:
    """The text formats to try: those the family was taught, then the general ones; never one we cannot read."""
    return tuple(dict.fromkeys(name for name in (*family, *GENERAL) if name in FORMATS))


async def run(lab: Laboratory) -> None:
    """The formats one after the other, until one works."""
    for name in lab.subject.formats:
        if await _works(lab, name):
            return


async def _works(lab: Laboratory, name: str) -> bool:
    for n in range(FORMAT_TRIALS):
        asked = demand(lab.chance)
        question = Question(asked.messages, TOOLS, format=name, streamed=n % 2 == 0)
        reply = await lab.ask(question)
        outcome = judge("formats", question, reply, asked)
        await lab.note(question, reply, outcome)
        if not outcome.passed:
            return False
    return True
