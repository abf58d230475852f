"""Tries whether the server takes a request with tools, where it takes the same one without."""

from __future__ import annotations

from toolsupport.core.refusals import MISCONFIGURED, classify
from toolsupport.core.verdicts import Outcome
from toolsupport.detection.laboratory import Laboratory, Question, Reply, trouble
from toolsupport.detection.questions import GREETING, TOOLS

BARE = Question(GREETING)
WITH_TOOLS = Question(GREETING, TOOLS)


async def run(lab: Laboratory) -> None:
    """A greeting without tools, which warms the model up, then the same greeting with them."""
    bare = await lab.warm_up(BARE)
    code, why = trouble(bare) or ("right", "It answers.")
    await lab.note(BARE, bare, Outcome("accepted", code, why, subject="bare"))
    if code not in ("right", "no_word"):
        return
    reply = await lab.ask(WITH_TOOLS)
    await lab.note(WITH_TOOLS, reply, _outcome(reply))
    await _rendered(lab, bare, reply)


def _outcome(reply: Reply) -> Outcome:
    if reply.refused is not None:
        return Outcome("accepted", "refused", reply.refused.message, subject="tools")
    if reply.failed is not None:
        found = classify(reply.failed.status, reply.failed.body)
        if found.label == MISCONFIGURED:
            why = f"The server has to be set up for tools first: {found.message}"
            return Outcome("accepted", "misconfigured", why, subject="tools", flag=found.message)
    told = trouble(reply)
    if told is not None and told[0] not in ("no_word", "malformed"):
        return Outcome("accepted", *told, subject="tools")
    return Outcome("accepted", "right", "A request with tools is taken.", subject="tools")


async def _rendered(lab: Laboratory, bare: Reply, reply: Reply) -> None:
    """Whether the tools changed the prompt, by the server's own count of its tokens."""
    without, with_tools = bare.usage.prompt_tokens, reply.usage.prompt_tokens
    if without is None or with_tools is None or reply.refused or reply.failed:
        return
    grew = with_tools > without
    why = f"The prompt has {without} tokens without tools and {with_tools} with them."
    await lab.note(WITH_TOOLS, reply, Outcome("rendered", "right" if grew else "no_call", why))
