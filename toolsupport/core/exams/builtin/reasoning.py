"""The arguments must be worked out from the request."""

from __future__ import annotations

from toolsupport.core.exams.builtin.case_builders import CaseWriter, call

_group = CaseWriter("reasoning", quick=(1, 2, 3, 9))
_add = _group.add

_add(
    "record_reading",
    "The reading of the meter E-4 was 1500 last month. Now it is higher: record the value 1620.",
    call("record_reading", optional="final", meter="E-4", value=1620),
)
_add(
    "reserve_seats",
    "Reserve seats for the show Hamlet, all together seats = 6: two adults and twice as many children.",
    call("reserve_seats", show="Hamlet", seats=6),
)
_add(
    "set_price",
    "Set the price of sku MUG-3, not of MUG-2: price = 12.5.",
    call("set_price", sku="MUG-3", price=12.5),
)
_add(
    "reserve_seats",
    "Three couples and one child want to see Carmen. Reserve their seats.",
    call("reserve_seats", show="Carmen", seats=7),
)
_add(
    "list_events",
    "Today is Monday, 2026-03-30. What is on my calendar on Wednesday of this week?",
    call("list_events", date="2026-04-01"),
)
_add(
    "set_price",
    "The lamp LMP-1 costs 80. Lower its price by a quarter.",
    call("set_price", sku="LMP-1", price=60),
)
_add("set_alarm", "It is 22:40. Wake me up in eight hours.", call("set_alarm", optional="label", time="06:40"))
_add(
    "pay_bill",
    "The bill R-77 is 120 euros. I have paid 45 of it already. Pay the rest.",
    call("pay_bill", bill_id="R-77", amount=75),
)
_add(
    "rent_car",
    "We land in Faro on Monday and fly home on the Monday after. Rent a car: city Faro, days 7, size large.",
    call("rent_car", city="Faro", days=7, size="large"),
)
_add(
    "complete_task",
    "My tasks: 11 buy milk, 12 call Eva, 13 water the plants. I have just been on the phone with Eva. Mark that one.",
    call("complete_task", task_id=12),
)
_add(
    "set_thermostat",
    "The kitchen is at 19 degrees, which is two degrees too warm. Set it right.",
    call("set_thermostat", room="kitchen", degrees=17),
)
_add(
    "create_event",
    "Put “Review” into my calendar on 2026-12-01. It begins at 14:45 and ends at 16:15.",
    call("create_event", title="Review", date="2026-12-01", start="14:45", minutes=90),
)
CASES = tuple(_group.cases)
