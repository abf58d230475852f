"""Evaluates what trials prove about a model besides whether it calls tools: yes, no, or mixed.

A yes needs at least two trials that agree, a no four. One dissenting trial needs eight against it; two dissenting
trials make the finding unknown, and unknown writes no row. Restraint needs three greetings without any call, since a
model that sometimes calls without need passes a few greetings easily. How long to sample is decided apart from what the
samples prove: each finding is sampled twice first, then more of all of them while there is time, and a no longer than a
yes, since a wrong no takes something away from people. A model that succeeds half of the time gets a yes or a no in at
most one of 100 tests: by nine passes or eight failures in a row, or twelve of one kind beside one of the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolsupport.core.outcomes import TrialOutcome, counting, of_step, subjects
from toolsupport.core.sentences import sentence

LEAST = 2  # passes in agreement before a yes
LEAST_ALONE = 3  # the same for leaving tools alone, where no failure is allowed
FIRST = 3  # trials of the first round if they differ
LEAST_NO = 4  # failures in agreement before a no
AGAINST_ONE = 8  # agreeing trials that outweigh a single dissenting one
SAMPLED_AGAINST_ONE = 12  # such trials before sampling stops
FOR_NO = 8  # failures in a row before sampling stops
FEWER_OF_TOOLS = 2  # passes that a tool needs less than other findings, unless trials differ: five tools are tried
FOR_NO_ALONE = 4  # the same for a tool offered alone: more trials follow with a shell beside it
BESIDE_A_SHELL = 3  # agreeing trials of a tool with a shell beside it
IN_DOUBT = 3  # more agreeing trials where the model did not do everything each time it was asked to
# A model that calls at every fourth greeting passes eight in a row in one test of ten, six in one of six.
MOST_GREETINGS = 8
SILENT = 3  # inconclusive trials in a row before a step gives up
MOST = 14
CONSTRAINS = 3  # replies as a schema demands, each with another constant, before a server counts as enforcing
CONSTRAINS_NOT = 2  # replies that do not fit, or refusals
CONSTRAINS_MOST = 9
# The kinds of schemas in these trials, each tried once: a call, several calls, references with nested alternatives
# and many tools, a pattern, and a pattern that no grammar can express.
PLAIN, SEVERAL, NESTED, PATTERN, ODD = SHAPES = ("plain", "several", "nested", "pattern", "odd")

LOST = ("no_call", "none_made")  # codes of trials that demanded a call and got none

STEPS = {"second_turn": "multi_turn", "control": "leaves_alone", "parallel": "parallel"}
SAMPLED = (*STEPS, "per_tool")


def found(outcomes: Sequence[TrialOutcome]) -> dict[str, Any]:
    """Return the capabilities that were measured; mixed ones, and those tried only once, are left out."""
    values: dict[str, Any] = {}
    for step, capability in STEPS.items():
        value = decided(results(outcomes, step), step)
        if value is not None:
            values[capability] = value
    for tool in subjects(outcomes, "per_tool"):
        way = way_of(outcomes, tool)
        if way:
            values[f"tool:{tool}"] = way
    return values


def constrains(outcomes: Iterable[TrialOutcome]) -> str:
    """Return whether the server enforces a schema: enforced, accepted, refused, or "" if the trials do not prove it.

    A single reply that does not fit outweighs those that do: a server that enforces a schema does so each time, and
    refuses one that it cannot read.
    """
    made = counting(of_step(outcomes, "constrains"))
    right = sum(outcome.code == "right" and outcome.subject not in (PATTERN, ODD) for outcome in made)
    wrong, refused = (sum(outcome.code == code for outcome in made) for code in ("unenforced", "refused"))
    if wrong >= CONSTRAINS_NOT or (wrong and right):
        return "accepted"
    if refused >= CONSTRAINS_NOT and not (right or wrong):
        return "refused"
    return "enforced" if right >= CONSTRAINS and not (wrong or refused) else ""


def of_server(outcomes: Sequence[TrialOutcome]) -> dict[str, Any]:
    """Return the measurements of the server, which do not depend on the verdict on the model."""
    found = constrains(outcomes)
    if found != "enforced":
        return {"constrains": found} if found else {}
    patterns = [outcome.code == "right" for outcome in counting(of_step(outcomes, "constrains", PATTERN))]
    return {"constrains": found} | ({"constrains_patterns": all(patterns)} if patterns else {})


def constrains_settled(outcomes: Sequence[TrialOutcome]) -> bool:
    """Return True when a schema was tried often enough."""
    made = of_step(outcomes, "constrains")
    silent = len(made) >= SILENT and not counting(made)
    found = constrains(made)
    settled = found == "enforced" and not _untried_shapes(made)
    return settled or found in ("accepted", "refused") or silent or len(made) >= CONSTRAINS_MOST


def next_shape(outcomes: Sequence[TrialOutcome]) -> str:
    """Return the shape of the next trial's schema: the first one without a result."""
    return next(iter(_untried_shapes(of_step(outcomes, "constrains"))), PLAIN)


def _untried_shapes(made: Sequence[TrialOutcome]) -> list[str]:
    tried = {outcome.subject for outcome in counting(made)}
    return [shape for shape in SHAPES if shape not in tried]


def streams(called: Sequence[TrialOutcome], outcomes: Sequence[TrialOutcome]) -> bool:
    """Return whether streamed answers bring the calls that were demanded: by these trials, and by later ones.

    Two right calls by chance prove little. The later steps demand more; what none of their trials met is left out.
    """
    tools = subjects(outcomes, "per_tool")
    later = [of_step(outcomes, "parallel"), *(of_step(outcomes, "per_tool", tool) for tool in tools)]
    tried = [bool(outcome.passed) for outcome in counting(called) if outcome.streamed]
    for made in later:
        arrived = [outcome.code not in LOST for outcome in made if outcome.streamed and _shows_a_call(outcome)]
        tried += arrived if any(arrived) else []
    return decided(tried) is True


def _shows_a_call(outcome: TrialOutcome) -> bool:
    return outcome.code in LOST or (outcome.passed is not None and outcome.code != "via_bash")


def results(outcomes: Iterable[TrialOutcome], step: str, subject: str = "") -> list[bool]:
    """Return passed or failed for each trial. A tool's work done by a shell proves nothing about calling the tool."""
    made = counting(of_step(outcomes, step, subject))
    return [bool(outcome.passed) for outcome in made if outcome.code != "via_bash"]


def decided(tried: Sequence[bool], step: str = "") -> bool | None:
    """Return the finding of these trials, None if they are too few or too mixed."""
    right, wrong = tried.count(True), tried.count(False)
    if right > wrong:
        outweighed = wrong == 0 or (wrong == 1 and right >= AGAINST_ONE and step != "control")
        return True if outweighed and right >= least_passes(step) else None
    outweighed = right == 0 or (right == 1 and wrong >= AGAINST_ONE)
    return False if outweighed and wrong >= LEAST_NO else None


def least_passes(step: str) -> int:
    """Return the number of passes that a yes needs."""
    return LEAST_ALONE if step == "control" else LEAST


def way_of(outcomes: Sequence[TrialOutcome], tool: str) -> str:
    """Return how a model does a file tool's work: native, via_bash, refused, or "" if unproven."""
    tried = results(outcomes, "per_tool", tool)
    native = decided(tried)
    if native is not False:
        return "native" if native else ""
    by_shell = sum(outcome.code == "via_bash" for outcome in of_step(outcomes, "per_tool", tool))
    if by_shell == 0 and tried.count(False) >= FOR_NO_ALONE + BESIDE_A_SHELL:
        return "refused"
    return "via_bash" if by_shell >= BESIDE_A_SHELL else ""


def begun(outcomes: Sequence[TrialOutcome], step: str, subject: str = "") -> bool:
    """Return True when the first round has enough samples: as few as may agree, or that they differ."""
    made = of_step(outcomes, step, subject)
    tried = results(made, step)
    agreeing = max(tried.count(True), tried.count(False))
    return len(made) >= FIRST or (agreeing >= least_passes(step) and agreeing == len(tried))


def settled(outcomes: Sequence[TrialOutcome], step: str, agreeing: int, subject: str = "") -> bool:
    """Return True when a step has enough samples: `agreeing` passes, enough failures for a no, or a mixture."""
    made = of_step(outcomes, step, subject)
    tried = results(made, step)
    right, wrong = tried.count(True), tried.count(False)
    if len(made) >= MOST or (not tried and len(made) >= SILENT):
        return True
    if min(right, wrong) == 0:
        enough = {"control": min(2 * agreeing, MOST_GREETINGS), "per_tool": agreeing - FEWER_OF_TOOLS}
        return right >= enough.get(step, agreeing) or wrong >= (FOR_NO_ALONE if step == "per_tool" else FOR_NO)
    only_a_no = step == "control" and right > 1
    return only_a_no or min(right, wrong) > 1 or max(right, wrong) >= SAMPLED_AGAINST_ONE


def needed(outcomes: Sequence[TrialOutcome], agreeing: int) -> int:
    """Return how many passes must agree: more for a model that succeeds only now and then."""
    return agreeing + IN_DOUBT if in_doubt(outcomes) else agreeing


def in_doubt(outcomes: Sequence[TrialOutcome]) -> bool:
    """Return whether trials of one kind differ: one setting of thinking, one side finding, or one tool."""
    called = {(outcome.think, outcome.passed) for outcome in counting(of_step(outcomes, "called"))}
    sampled = [*((step, "") for step in STEPS), *(("per_tool", tool) for tool in subjects(outcomes, "per_tool"))]
    differ = any(len({*results(outcomes, step, subject)}) > 1 for step, subject in sampled)
    return differ or len(called) > len({think for think, _ in called})


def ways(side: Mapping[str, Any]) -> list[str]:
    """Return how the model does the work of each tool: "`read_file`: native", "`edit_file`: through bash"."""
    tools = {name.removeprefix("tool:"): value for name, value in side.items() if name.startswith("tool:")}
    return [sentence(f"tool_{value}", tool=tool) for tool, value in tools.items()]
