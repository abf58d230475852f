"""One tool is offered, or two, and one call is right."""

from __future__ import annotations

from toolsupport.core.exams.builtin.case_builders import CaseWriter, call

_group = CaseWriter("single", quick=(1, 2, 3, 5))
_add = _group.add

_add("get_weather", "How is the weather in Paris?", call("get_weather", city="Paris"))
_add("get_stock_price", "Get the stock price of the symbol NVDA.", call("get_stock_price", symbol="NVDA"))
_add("get_order", "Please look up order with order_id A-1047.", call("get_order", order_id="A-1047"))
_add(
    "send_sms send_email",
    "Send an SMS to +49 170 5550123 with the message: The parcel is here.",
    call("send_sms", {"phone": ["+491705550123"]}, phone="+49 170 5550123", message="The parcel is here."),
)
_add("complete_task add_task", "Task 42 is finished, tick it off.", call("complete_task", task_id=42))
_add("get_air_quality", "Is the air in Milan all right for a run? Check it.", call("get_air_quality", city="Milan"))
_add("set_alarm", "Wake me up at a quarter past six in the morning.", call("set_alarm", optional="label", time="06:15"))
_add(
    "convert_currency",
    "How many yen are 250 euros?",
    call("convert_currency", amount=250, source="EUR", target="JPY"),
)
_add(
    "translate_text",
    "Translate “Where is the station?” into Italian.",
    call("translate_text", {"language": ["it", "Italiano"]}, text="Where is the station?", language="Italian"),
)
_add(
    "play_music",
    "Play “Blue in Green” by Miles Davis.",
    call("play_music", title="Blue in Green", artist="Miles Davis"),
)
_add(
    "find_route",
    "How do I get from Leeds to York by train?",
    call("find_route", start="Leeds", destination="York", by="train"),
)
_add(
    "book_table",
    "Book a table for four at Chez Anna on 2026-12-05 at 19:30.",
    call("book_table", restaurant="Chez Anna", people=4, date="2026-12-05", time="19:30"),
)
CASES = tuple(_group.cases)
