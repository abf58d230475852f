"""A model that uses the offered tools as requested."""

from __future__ import annotations

from toolsupport.simulator.rules import (
    answers,
    appending,
    chained_values,
    recalling,
    result_parsing,
    searching,
    tool_matching,
)
from toolsupport.simulator.rules.intents import Intent, understand
from toolsupport.simulator.types import ModelInput, SimulatedCall, SimulatedReply


def reply(prompt: ModelInput) -> SimulatedReply:
    """Make the calls that tools can serve and that have no result yet; otherwise answer."""
    prompt = recalling.recalled(prompt)
    intents = understand(prompt.asked, [tool.name for tool in prompt.tools])
    unsearched = searching.without_searches(intents, prompt)
    intents = appending.in_steps(intents, unsearched)
    search = searching.search(intents, prompt)
    if search is not None:
        return SimulatedReply(calls=(search,))
    prompt = unsearched
    calls = planned(intents, prompt)
    return SimulatedReply(calls=calls) if calls else SimulatedReply(content=answer(intents, prompt))


def planned(intents: list[Intent], prompt: ModelInput) -> tuple[SimulatedCall, ...]:
    """Return the calls still to be made; results arrive in the order of their intents."""
    served = [found for found in (tool_matching.find(intent, prompt.tools) for intent in intents) if found]
    left = served[len(prompt.results) :]
    calls = tuple(appending.call(tool, intent) for tool, intent in left)
    if len(served) < 2 or not calls or not chained_values.wanted(prompt.asked):
        return calls
    # Each call needs the result before it, so they come one by one.
    given = prompt.results[-1:]
    if any(result_parsing.read(result.content).wrong for result in given):
        return ()
    return tuple(chained_values.received(left[0][0], calls[0], result.content) for result in given) or calls[:1]


def answer(intents: list[Intent], prompt: ModelInput) -> str:
    """Return the answer to each intent, from its tool's result if there is one."""
    given = iter(prompt.results)
    response = []
    for intent in intents:
        served = tool_matching.find(intent, prompt.tools)
        # If tools are no longer offered, the results still belong to the intents that a tool could serve.
        result = next(given, None) if served or (intent.kind in tool_matching.ROLES and not prompt.tools) else None
        asked = served[1] if served else intent
        if result and intent["on_the_way"]:
            continue
        if served and result is None and prompt.results:
            response.append(answers.NOT_CALLED.format(served[0].name))
        else:
            response.append(answers.with_result(asked, result.content) if result else answers.without_tool(asked))
    return "\n\n".join(response)
