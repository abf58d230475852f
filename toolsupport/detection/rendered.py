"""Tests whether the tools reach the model's prompt, by the template, a rendered prompt or its token count."""

from __future__ import annotations

import asyncio

from toolsupport import providers
from toolsupport.core.errors import ProviderError
from toolsupport.core.outcomes import TrialOutcome
from toolsupport.core.reply_builder import ReplyBuilder
from toolsupport.core.sentences import sentence
from toolsupport.detection.probe_prompts import GREETING, TICKET, TOOLS
from toolsupport.detection.probe_reply import ProbeReply
from toolsupport.detection.probe_runner import ProbeRunner

SECONDS = 5.0


async def run(runner: ProbeRunner) -> None:
    """Use what the server renders, if it shows that; else the growth of the prompt in tokens."""
    question = runner.offering(GREETING, TOOLS)
    try:
        async with asyncio.timeout(SECONDS):
            shown = await providers.rendered(runner.subject.endpoint, runner.request(question))
    except (ProviderError, TimeoutError):
        shown = None
    if shown is not None:
        inside = shown.proves or TICKET.name in shown.text
        why = sentence("tools_in_prompt" if inside else "tools_not_in_prompt", source=shown.by)
        outcome = TrialOutcome("rendered", "right" if inside else "no_call", why, subject=shown.by)
        await runner.note(question, ProbeReply(ReplyBuilder(shown.text)), outcome)
    elif runner.bare is not None and runner.greeted is not None:
        await runner.note(question, runner.greeted, _by_tokens(runner.bare, runner.greeted))


def _by_tokens(bare: ProbeReply, greeted: ProbeReply) -> TrialOutcome:
    without, with_tools = bare.usage.prompt_tokens, greeted.usage.prompt_tokens
    if without is None or with_tools is None:
        return TrialOutcome("rendered", "unsaid", sentence("prompt_not_shown"))
    why = sentence("prompt_tokens", without=without, with_tools=with_tools)
    return TrialOutcome("rendered", "right" if with_tools > without else "no_call", why, subject="count of tokens")
