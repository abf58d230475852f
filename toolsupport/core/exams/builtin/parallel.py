"""Several calls are needed that do not depend on each other."""

from __future__ import annotations

from functools import partial

from toolsupport.core.exams.builtin.case_builders import CaseWriter, call

_group = CaseWriter("parallel", quick=range(1, 7))
_add = partial(_group.add, together=True)

_add(
    "read_file list_files",
    "Read notes.md and read plan.md.",
    call("read_file", path="notes.md"),
    call("read_file", path="plan.md"),
)
_add(
    "store_code get_order",
    "Call store_code once with code=a17, and once with code=b29.",
    call("store_code", optional="count", code="a17"),
    call("store_code", optional="count", code="b29"),
)
_add(
    "check_stock get_order get_customer",
    "Call check_stock with sku=CUP-1 and call get_order with order_id=A-7.",
    call("check_stock", sku="CUP-1"),
    call("get_order", order_id="A-7"),
)
_add(
    "get_air_quality get_stock_price",
    "Call get_air_quality with city=Graz and call get_stock_price with symbol=SAP.",
    call("get_air_quality", city="Graz"),
    call("get_stock_price", symbol="SAP"),
)
_add(
    "read_file list_files write_file",
    "Read a.txt, read b.txt and read c.txt.",
    call("read_file", path="a.txt"),
    call("read_file", path="b.txt"),
    call("read_file", path="c.txt"),
)
_add(
    "list_files read_file count_words",
    "List the files in the src folder and read README.md.",
    call("list_files", {"path": ["src/", "./src"]}, path="src"),
    call("read_file", path="README.md"),
)
_add(
    "get_weather get_forecast",
    "What is the weather now in Rome, in Athens and in Cairo?",
    call("get_weather", city="Rome"),
    call("get_weather", city="Athens"),
    call("get_weather", city="Cairo"),
)
_add(
    "switch_light set_thermostat play_music",
    "Switch on the light in the office and heat it to 21 degrees.",
    call("switch_light", room="office", on=True),
    call("set_thermostat", room="office", degrees=21),
)
_add(
    "get_stock_price convert_currency",
    "Get the prices of AAPL, MSFT, AMZN and IBM.",
    *(call("get_stock_price", symbol=symbol) for symbol in ("AAPL", "MSFT", "AMZN", "IBM")),
)
_add(
    "add_task complete_task",
    "Tasks 3 and 8 are done. Mark both.",
    call("complete_task", task_id=3),
    call("complete_task", task_id=8),
)
_add(
    "set_alarm add_task send_sms",
    "Set alarms at 07:00 and at 07:10.",
    call("set_alarm", optional="label", time="07:00"),
    call("set_alarm", optional="label", time="07:10"),
)
_add(
    "translate_text send_email",
    "Translate “Good night” into Polish and into Finnish.",
    call("translate_text", {"language": ["pl"]}, text="Good night", language="Polish"),
    call("translate_text", {"language": ["fi"]}, text="Good night", language="Finnish"),
)
CASES = tuple(_group.cases)
