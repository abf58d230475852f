"""A model that uses the tools it is offered, as asked."""

from __future__ import annotations

from toolsupport.simulator.nouns import ModelInput, SimulatedCall, SimulatedReply
from toolsupport.simulator.rules import adding, answers, handed_on, offers, searching
from toolsupport.simulator.rules.wishes import Intent, understand


def reply(prompt: ModelInput) -> SimulatedReply:
    """Calls for what tools serve and has no result yet; otherwise the answer."""
    wishes = understand(prompt.asked, [tool.name for tool in prompt.tools])
    unsearched = searching.without_searches(wishes, prompt)
    wishes = adding.in_steps(wishes, unsearched)
    search = searching.search(wishes, prompt)
    if search is not None:
        return SimulatedReply(calls=(search,))
    prompt = unsearched
    calls = planned(wishes, prompt)
    return SimulatedReply(calls=calls) if calls else SimulatedReply(content=answer(wishes, prompt))


def planned(wishes: list[Intent], prompt: ModelInput) -> tuple[SimulatedCall, ...]:
    """The calls that are still to be made; results come in the order of the wishes they serve."""
    served = [found for found in (offers.find(wish, prompt.tools) for wish in wishes) if found]
    left = served[len(prompt.results) :]
    calls = tuple(adding.call(tool, wish) for tool, wish in left)
    if len(served) < 2 or not calls or not handed_on.wanted(prompt.asked):
        return calls
    # Each call needs the result before it, so they come one by one.
    given = prompt.results[-1:]
    return tuple(handed_on.received(left[0][0], calls[0], result.content) for result in given) or calls[:1]


def answer(wishes: list[Intent], prompt: ModelInput) -> str:
    """What is said of each wish, from its tool's result where there is one."""
    given = iter(prompt.results)
    said = []
    for wish in wishes:
        served = offers.find(wish, prompt.tools)
        # Without tools on offer any more, the results still belong to what a tool could serve.
        result = next(given, None) if served or (wish.kind in offers.ROLES and not prompt.tools) else None
        asked = served[1] if served else wish
        if result and wish["on_the_way"]:
            continue
        said.append(answers.with_result(asked, result.content) if result else answers.without_tool(asked))
    return "\n\n".join(said)
