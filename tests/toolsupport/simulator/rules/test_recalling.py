"""Requests that refer to earlier messages get the facts from them."""

from __future__ import annotations

from tests.tables import every
from toolsupport.simulator.rules.recalling import recalled
from toolsupport.simulator.types import HistoryMessage, ModelInput, OfferedTool, SimulatedCall

TOOL = OfferedTool("check_stock", "Counts pieces.", {})
READ = (
    HistoryMessage("assistant", calls=(SimulatedCall("read_file", {"path": "shop.txt"}),)),
    HistoryMessage("tool", "sku: TEA-9\nprice: 6.40", name="read_file"),
)
NUMBER = HistoryMessage("user", "My favourite number is 12. Keep it secret.")
CASES = [
    ((NUMBER,), "Use my favourite number twice.", "Use 12 twice."),
    ((NUMBER, HistoryMessage("user", "My favourite number is 7.")), "Add my favourite number.", "Add 7."),
    ((HistoryMessage("user", "The phone number of Ole is +47 555."),), "Call the phone number of Ole.",
     'Call "+47 555".'),
    ((HistoryMessage("user", "I live in Turin."),), "Is it warm where I live?", "Is it warm in Turin?"),
    ((HistoryMessage("user", "Read it."), *READ), "Count the sku from shop.txt.", "Count TEA-9."),
    # What was not stated by a person, or not as a fact, stays.
    ((HistoryMessage("user", "Hm."), HistoryMessage("assistant", NUMBER.content)), "Use my favourite number.", ""),
    ((HistoryMessage("user", "Remember that my number is 12."),), "Use my number.", ""),
    ((NUMBER,), "Use my favourite numbers.", ""),
    ((HistoryMessage("user", "Read it."), *READ), "Count the sku from other.txt.", ""),
]  # fmt: skip


def prompt(earlier: tuple[HistoryMessage, ...], asked: str, *, tools: tuple[OfferedTool, ...] = (TOOL,)) -> ModelInput:
    after = HistoryMessage("assistant", calls=(SimulatedCall("check_stock", {}),))
    return ModelInput((*earlier, HistoryMessage("user", asked), after), tools)


@every(("earlier", "asked", "expected"), CASES)
def test_a_request_gets_the_facts_that_it_refers_to(
    earlier: tuple[HistoryMessage, ...], asked: str, expected: str
) -> None:
    found = recalled(prompt(earlier, asked))
    assert found.asked == (expected or asked)
    assert len(found.messages) == len(earlier) + 2


def test_without_tools_or_earlier_messages_nothing_changes() -> None:
    for given in (prompt((NUMBER,), "Use my favourite number.", tools=()), prompt((), "Use my favourite number.")):
        assert recalled(given) is given
