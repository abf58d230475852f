"""The types of the arguments may go wrong: numbers, switches, fixed values, lists, texts with digits."""

from __future__ import annotations

from toolsupport.core.exams.builtin.case_builders import CaseWriter, call

_group = CaseWriter("types", quick=(1, 2, 3, 4))
_add = _group.add

_add(
    "record_reading",
    "Record the reading of meter W-7 with the value 1824.75.",
    call("record_reading", optional="final", meter="W-7", value=1824.75),
)
_add("store_code", "Call store_code with code=007734.", call("store_code", optional="count", code="007734"))
_add(
    "set_thermostat",
    "Set the thermostat: room bedroom, degrees 18.5.",
    call("set_thermostat", room="bedroom", degrees=18.5),
)
_add("switch_light", "Switch the light: room hall, on false.", call("switch_light", room="hall", on=False))
_add(
    "set_scores",
    "The scores of the player Nia are 7, 12 and 9. Set them.",
    call("set_scores", player="Nia", scores=[7, 12, 9]),
)
_add(
    "tag_page",
    "Give the page Home the tags 2024, news and v2.",
    call("tag_page", page="Home", tags=["2024", "news", "v2"]),
)
_add(
    "schedule_job",
    "Schedule the job backup at 2 and 14 o'clock, without any timeout (null).",
    call("schedule_job", optional="timeout", name="backup", hours=[2, 14], timeout=None),
)
_add(
    "add_task",
    "Add the task “Renew the passport” with high priority, due on 2027-01-15.",
    call("add_task", title="Renew the passport", due="2027-01-15", priority="high"),
)
_add(
    "record_reading",
    "The final reading of meter G-2 is minus 3.5. Record it.",
    call("record_reading", meter="G-2", value=-3.5, final=True),
)
_add(
    "set_flags",
    "Disable the device cam-3 and set its retries to 0.",
    call("set_flags", device="cam-3", enabled=False, retries=0),
)
_add(
    "search_products",
    "Search for kettles that are in stock and cost at most 40, cheapest first.",
    call(
        "search_products",
        {"query": ["kettles"]},
        query="kettle",
        max_price=40,
        in_stock=True,
        sort="price",
    ),
)
_add(
    "store_code",
    "Store the code 1e5 as it is written, 3 times (count).",
    call("store_code", code="1e5", count=3),
)
CASES = tuple(_group.cases)
