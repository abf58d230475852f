"""Looks for more tools where none on offer serves a wish, with the tool that finds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsupport.simulator.nouns import ModelInput, SimulatedCall
from toolsupport.simulator.rules import offers
from toolsupport.simulator.rules.arguments import fill
from toolsupport.simulator.rules.wishes import TOOLFUL, Intent, IntentKind

# A tool that is named is offered, and arithmetic needs none.
LOOKED_FOR = TOOLFUL - {IntentKind.CALL, IntentKind.COMPUTE}


def search(wishes: Sequence[Intent], prompt: ModelInput) -> SimulatedCall | None:
    """The search to make before anything else; None where nothing is missing, or it was made already."""
    finder = offers.finder(prompt.tools)
    missing = [wish for wish in wishes if wish.kind in LOOKED_FOR and offers.find(wish, prompt.tools) is None]
    if finder is None or not missing or any(result.name == finder.name for result in prompt.results):
        return None
    return SimulatedCall(
        finder.name, fill(finder, Intent(IntentKind.UNKNOWN, missing[0].text, {"expression": missing[0].text}))
    )


def without_searches(wishes: Sequence[Intent], prompt: ModelInput) -> ModelInput:
    """The prompt without the results of such searches, which answer no wish; a search that was wanted stays."""
    finder = offers.finder(prompt.tools)
    if finder is None or any(wish["tool"] == finder.name for wish in wishes):
        return prompt
    kept = tuple(said for said in prompt.messages if said.role != "tool" or said.name != finder.name)
    return replace(prompt, messages=kept)
