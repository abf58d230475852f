"""A long conversation comes before the request, with earlier calls, and the request refers to it."""

from __future__ import annotations

from toolsupport.core.exams.builtin.case_builders import CaseWriter, assistant, call, result, says, used, user
from toolsupport.core.types import ChatMessage

_group = CaseWriter("history", quick=(3, 4, 5, 6))
TALK = (
    ("Which tea is the strongest?", "Assam is among the strongest: malty and dark."),
    ("And the mildest?", "White tea, such as Silver Needle, is the mildest."),
    ("How long should green tea steep?", "Two to three minutes, at about 75 degrees."),
    ("Does water matter?", "Yes. Soft water brings out the taste, hard water dulls it."),
    ("What goes with Earl Grey?", "Lemon cake, shortbread, or simply a slice of lemon."),
    ("Is rooibos a tea?", "Not strictly: it is made from another plant, and has no caffeine."),
    ("How should I keep tea?", "In a closed tin, dark and dry, away from spices."),
    ("How long does it keep?", "Black tea two years, green tea about one."),
    ("Which cup do you recommend?", "A thin one of porcelain, since it keeps the taste clean."),
    ("Do you know matcha?", "Yes: green tea, ground to a powder and beaten with hot water."),
)


def _after(before: tuple[ChatMessage, ...], asked: str) -> tuple[ChatMessage, ...]:
    """Return a conversation with a long talk between the needed fact and the request."""
    talk = tuple(part for question, reply in TALK for part in (user(question), assistant(reply)))
    return (*before, *talk, user(asked))


_add = _group.add
READ = used(1, "read_file", {"path": "shop.txt"}, "sku: TEA-9\nprice: 6.40")
_add(
    "read_file check_stock",
    _after((user("Read shop.txt."), *READ, assistant("It has the sku TEA-9 at 6.40.")), "Read stock.txt now."),
    call("read_file", path="stock.txt"),
    recorded=(result("read_file", "TEA-9: 14"),),
)
_add(
    "get_weather get_air_quality",
    _after(
        (
            user("How is the weather in Oslo?"),
            *used(1, "get_weather", {"city": "Oslo"}, "rain, 6"),
            assistant("Rain, 6."),
        ),
        "How is the weather in Madrid?",
    ),
    call("get_weather", city="Madrid"),
)
_add(
    "store_code get_order",
    _after(
        (user("My favourite number is 12."), assistant("I see.")),
        "Call store_code with code=x-88 and count set to my favourite number.",
    ),
    call("store_code", code="x-88", count=12),
)
_add(
    "check_stock read_file",
    _after(
        (user("Read shop.txt."), *READ, assistant("It has the sku TEA-9 at 6.40.")),
        "How many pieces of the sku from shop.txt are in stock?",
    ),
    call("check_stock", sku="TEA-9"),
)
_add(
    "send_sms send_email",
    _after(
        (user("The phone number of Ole is +47 555 0199."), assistant("Understood.")),
        'Use send_sms with the message "Dinner at eight?" and phone = the phone number of Ole.',
    ),
    call("send_sms", {"phone": ["+475550199"]}, phone="+47 555 0199", message="Dinner at eight?"),
)
_add(
    "get_weather get_air_quality",
    _after((user("I live in Turin."), assistant("A beautiful city.")), "How is the weather where I live?"),
    call("get_weather", city="Turin"),
)
_add(
    "get_order refund_order",
    _after(
        (
            user("Look up order D-19."),
            *used(1, "get_order", {"order_id": "D-19"}, '{"id": "D-19", "total": 64.9}'),
            assistant("Order D-19 comes to 64.90."),
        ),
        "Refund that order completely.",
    ),
    call("refund_order", optional="reason", order_id="D-19", amount=64.9),
)
_add(
    "add_task complete_task",
    _after((user("Always use high priority for tasks of mine."), assistant("I will.")), "Add the task “Order Assam”."),
    call("add_task", title="Order Assam", priority="high"),
)
_add(
    "get_weather get_air_quality",
    _after(
        (
            user("How is the weather in Oslo?"),
            *used(1, "get_weather", {"city": "Oslo"}, "rain, 6"),
            assistant("Rain, 6."),
        ),
        "What did you tell me about the weather in Oslo? Do not check it again.",
    ),
    answer=says("rain"),
)
_add(
    "switch_light set_thermostat",
    _after(
        (
            user("Switch on the light in the study."),
            *used(1, "switch_light", {"room": "study", "on": True}, "ok"),
            assistant("It is on."),
        ),
        "Now switch off the light in room study.",
    ),
    call("switch_light", room="study", on=False),
)
_add(
    "translate_text",
    _after(
        (user("My grandmother speaks Greek."), assistant("How nice.")), "Translate “Thank you for the tea” for her."
    ),
    call("translate_text", {"language": ["el"]}, text="Thank you for the tea", language="Greek"),
)
_add(
    "book_table find_route",
    _after(
        (user("There are five of us, and we like the restaurant Olivo."), assistant("A good choice.")),
        "Book a table there for all of us on 2027-02-14 at 20:00.",
    ),
    call("book_table", restaurant="Olivo", people=5, date="2027-02-14", time="20:00"),
)
CASES = tuple(_group.cases)
