"""Tries whether the model calls the right tool when that is demanded in plain words."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.core import verdicts
from toolsupport.core.verdicts import Outcome
from toolsupport.detection.judging import judge
from toolsupport.detection.laboratory import Laboratory, Question, Reply
from toolsupport.detection.questions import TICKET, TOOLS, Demand, demand


async def run(lab: Laboratory) -> None:
    """Trials, streamed and not, until the verdict could not change any more."""
    n = 0
    while not verdicts.sure(lab.outcomes):
        asked = demand(lab.chance)
        question = Question(asked.messages, TOOLS, streamed=n % 2 == 0, think=_think(lab, n))
        reply = await lab.ask(question)
        await lab.note(question, reply, _outcome(lab, question, reply, asked))
        n += 1


def _think(lab: Laboratory, n: int) -> bool | None:
    """A model that can think is tried with and without."""
    return None if not lab.subject.thinks else n % 3 != 1


def _outcome(lab: Laboratory, question: Question, reply: Reply, asked: Demand) -> Outcome:
    """A call that stands in the text of a server which has a setting for that is the server's fault."""
    outcome = judge("called", question, reply, asked)
    in_text = outcome.code == "no_call" and TICKET.name in reply.text and asked.ticket in reply.text
    if not in_text:
        return outcome
    flag = lab.subject.leak_flag
    why = f"Its call stayed in the text: the server was started without {flag}." if flag else outcome.why
    return replace(outcome, code="in_text", why=why, flag=flag)
