"""Many tools are offered, some of them similar, and one of them is right."""

from __future__ import annotations

from toolsupport.core.exams.builtin.case_builders import CaseWriter, call

_group = CaseWriter("choice", quick=(1, 2, 3, 11))
_add = _group.add
HOME = "set_thermostat switch_light set_alarm play_music get_weather get_forecast get_air_quality add_task"
SHOP = "get_order refund_order get_customer check_stock search_products place_order set_price create_invoice"
OFFICE = "send_email send_sms create_event cancel_event list_events add_task complete_task translate_text"
FILES = "list_files read_file write_file delete_file count_words"
ALL = f"{HOME} {SHOP} {OFFICE} {FILES} find_route book_table book_flight rent_car get_stock_price convert_currency"
EACH = " ".join(dict.fromkeys(ALL.split()))

_add(f"{SHOP} {FILES}", "Read the file notes/plan.md.", call("read_file", path="notes/plan.md"))
_add(f"{HOME} {SHOP}", "What is the air quality in the city Lyon?", call("get_air_quality", city="Lyon"))
_add(f"{SHOP} get_stock_price", "Check the stock of sku TEA-5.", call("check_stock", sku="TEA-5"))
_add(EACH, "How will the weather be in Bergen over the next 3 days?", call("get_forecast", city="Bergen", days=3))
_add(EACH, "How much is one share of the company with the ticker IBM?", call("get_stock_price", symbol="IBM"))
_add(EACH, "Is sku KET-88 still available in the shop?", call("check_stock", sku="KET-88"))
_add(EACH, "What is on my calendar on 2026-11-30?", call("list_events", date="2026-11-30"))
_add(EACH, "The meeting with the id ev_317 does not take place. Remove it.", call("cancel_event", event_id="ev_317"))
_add(
    EACH,
    "Give the buyer of order B-2210 back 18.50.",
    call("refund_order", optional="reason", order_id="B-2210", amount=18.5),
)
_add(
    EACH,
    "I need a small car in Porto for five days.",
    call("rent_car", city="Porto", days=5, size="small"),
)
_add(EACH, "Delete the file tmp/old.log.", call("delete_file", path="tmp/old.log"))
_add(
    EACH,
    "Who is the customer behind mara@example.com?",
    call("get_customer", email="mara@example.com"),
)
CASES = tuple(_group.cases)
