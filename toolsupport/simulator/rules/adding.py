"""Adds to a file where no tool does: it is read first, then written whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsupport.simulator.nouns import ModelInput, OfferedTool, SimulatedCall
from toolsupport.simulator.rules import offers, results
from toolsupport.simulator.rules.arguments import fill
from toolsupport.simulator.rules.offers import MEANINGS
from toolsupport.simulator.rules.wishes import Intent, IntentKind

# A step on the way to what was wanted, of which the answer says nothing.
ON_THE_WAY = {"on_the_way": "yes"}


def in_steps(wishes: Sequence[Intent], prompt: ModelInput) -> list[Intent]:
    """The same wishes, each addition that needs it as a reading and, once that worked, a writing at the end."""
    steps: list[Intent] = []
    writings: list[Intent] = []
    for wish in wishes:
        if not _needs_steps(wish, prompt):
            steps.append(wish)
            continue
        place = sum(offers.find(step, prompt.tools) is not None for step in steps)
        read = [results.read(given.content) for given in prompt.results[place : place + 1]]
        texts = [outcome.text for outcome in read if not outcome.wrong]
        steps.append(replace(wish, kind=IntentKind.READ, values={**wish.values, **(ON_THE_WAY if texts else {})}))
        writings += [_writing(wish, text) for text in texts]
    return steps + writings


def _needs_steps(wish: Intent, prompt: ModelInput) -> bool:
    def served(kind: IntentKind) -> bool:
        return offers.find(replace(wish, kind=kind), prompt.tools) is not None

    return (
        wish.kind == IntentKind.APPEND
        and not served(IntentKind.APPEND)
        and served(IntentKind.READ)
        and served(IntentKind.WRITE)
    )


def _writing(wish: Intent, before: str) -> Intent:
    gap = "" if not before or before.endswith("\n") else "\n"
    return replace(wish, kind=IntentKind.WRITE, values={**wish.values, "whole": f"{before}{gap}{wish['content']}\n"})


def call(tool: OfferedTool, wish: Intent) -> SimulatedCall:
    """The call that serves a wish. A file that is written whole again is taken to the letter, unlike words."""
    arguments = fill(tool, wish)
    if wish["whole"]:
        arguments |= {name: wish["whole"] for name in arguments if MEANINGS.get(name.lower()) == "content"}
    return SimulatedCall(tool.name, arguments)
