"""The tools that the built-in exam offers; none of them can be executed."""

from __future__ import annotations

from typing import Any

from toolsupport.core.types import JSON, ToolSpec

TEXT: JSON = {"type": "string"}
INTEGER: JSON = {"type": "integer"}
NUMBER: JSON = {"type": "number"}
FLAG: JSON = {"type": "boolean"}
TEXTS: JSON = {"type": "array", "items": TEXT}


def one_of(*values: str) -> JSON:
    return {"type": "string", "enum": list(values)}


def about(schema: JSON, words: str) -> JSON:
    return {**schema, "description": words}


def inside(required: str, /, **fields: JSON) -> JSON:
    """Return the schema of an object; `required` are names."""
    return {"type": "object", "properties": fields, "required": required.split()}


def tool(name: str, words: str, required: str, /, **fields: Any) -> ToolSpec:
    return ToolSpec(name, words, inside(required, **fields))


DAY = about(TEXT, "As YYYY-MM-DD")
HOUR = about(TEXT, "As HH:MM, 24 hours")
ADDRESS = inside("street city", street=TEXT, city=TEXT, postal_code=TEXT, country=TEXT)

_ALL = (
    tool(
        "get_weather",
        "Get the current weather of a city.",
        "city",
        city=TEXT,
        unit={**one_of("celsius", "fahrenheit"), "default": "celsius"},
    ),
    tool("get_forecast", "Get the weather forecast of a city for the next days.", "city days", city=TEXT, days=INTEGER),
    tool("get_air_quality", "Get the air quality index of a city.", "city", city=TEXT),
    tool(
        "convert_currency",
        "Convert an amount of money.",
        "amount source target",
        amount=NUMBER,
        source=about(TEXT, "Code of three letters, e.g. EUR"),
        target=about(TEXT, "Code of three letters"),
    ),
    tool(
        "send_email",
        "Send an email.",
        "recipient subject body",
        recipient=TEXT,
        subject=TEXT,
        body=TEXT,
        urgent={**FLAG, "default": False},
    ),
    tool("send_sms", "Send a text message to a phone number.", "phone message", phone=TEXT, message=TEXT),
    tool(
        "create_event",
        "Create an event in the calendar.",
        "title date start",
        title=TEXT,
        date=DAY,
        start=HOUR,
        minutes={**INTEGER, "default": 60},
        guests=TEXTS,
    ),
    tool("cancel_event", "Cancel an event in the calendar.", "event_id", event_id=TEXT),
    tool("list_events", "List the events of a day.", "date", date=DAY),
    tool(
        "add_task",
        "Add a task to the list.",
        "title",
        title=TEXT,
        due=DAY,
        priority={**one_of("low", "normal", "high"), "default": "normal"},
    ),
    tool("complete_task", "Mark a task as done.", "task_id", task_id=INTEGER),
    tool("get_stock_price", "Get the price of a share.", "symbol", symbol=about(TEXT, "The ticker symbol")),
    tool("get_order", "Get an order of the shop.", "order_id", order_id=TEXT),
    tool("refund_order", "Refund an order of the shop.", "order_id amount", order_id=TEXT, amount=NUMBER, reason=TEXT),
    tool("get_customer", "Get a customer of the shop by email address.", "email", email=TEXT),
    tool("check_stock", "Get how many pieces of a product are in stock.", "sku", sku=TEXT),
    tool(
        "search_products",
        "Search the products of the shop.",
        "query",
        query=TEXT,
        max_price=NUMBER,
        in_stock=FLAG,
        sort={**one_of("price", "rating", "newest"), "default": "rating"},
    ),
    tool(
        "set_thermostat",
        "Set the temperature of a room.",
        "room degrees",
        room=one_of("kitchen", "bedroom", "bathroom", "office"),
        degrees=NUMBER,
    ),
    tool("switch_light", "Switch the light of a room on or off.", "room on", room=TEXT, on=FLAG),
    tool("set_alarm", "Set an alarm.", "time", time=HOUR, label=TEXT),
    tool("translate_text", "Translate a text.", "text language", text=TEXT, language=about(TEXT, "Target language")),
    tool("play_music", "Play music.", "title", title=TEXT, artist=TEXT, shuffle={**FLAG, "default": False}),
    tool(
        "find_route",
        "Find a route between two places.",
        "start destination",
        start=TEXT,
        destination=TEXT,
        by={**one_of("car", "train", "bicycle", "foot"), "default": "car"},
    ),
    tool(
        "book_table",
        "Book a table in a restaurant.",
        "restaurant people date time",
        restaurant=TEXT,
        people=INTEGER,
        date=DAY,
        time=HOUR,
    ),
    tool("book_flight", "Book a flight.", "flight passengers", flight=TEXT, passengers=TEXTS),
    tool("record_reading", "Record the reading of a meter.", "meter value", meter=TEXT, value=NUMBER, final=FLAG),
    tool("set_flags", "Set the switches of a device.", "device enabled", device=TEXT, enabled=FLAG, retries=INTEGER),
    tool("store_code", "Store a code as it is written.", "code", code=TEXT, count=INTEGER),
    tool(
        "set_scores",
        "Set the scores of a player.",
        "player scores",
        player=TEXT,
        scores={"type": "array", "items": INTEGER},
    ),
    tool("tag_page", "Set the tags of a page.", "page tags", page=TEXT, tags=TEXTS),
    tool(
        "schedule_job",
        "Schedule a job.",
        "name hours",
        name=TEXT,
        hours={"type": "array", "items": INTEGER},
        timeout={"type": ["integer", "null"]},
    ),
    tool(
        "create_customer",
        "Create a customer.",
        "customer",
        customer=inside("name email", name=TEXT, email=TEXT, address=ADDRESS),
    ),
    tool(
        "create_invoice",
        "Create an invoice.",
        "customer lines",
        customer=TEXT,
        currency={**TEXT, "default": "EUR"},
        lines={"type": "array", "items": inside("item quantity price", item=TEXT, quantity=INTEGER, price=NUMBER)},
    ),
    tool(
        "update_settings",
        "Change the settings of an account.",
        "account settings",
        account=TEXT,
        settings=inside(
            "", language=TEXT, notifications=inside("", email=FLAG, sms=FLAG), theme=one_of("light", "dark")
        ),
    ),
    tool(
        "filter_rows",
        "Filter the rows of a table.",
        "table filters",
        table=TEXT,
        filters={
            "type": "array",
            "items": inside(
                "column operator value", column=TEXT, operator=one_of("=", "<", ">", "contains"), value=TEXT
            ),
        },
    ),
    tool(
        "place_order",
        "Place an order.",
        "items address",
        address=ADDRESS,
        items={"type": "array", "items": inside("sku quantity", sku=TEXT, quantity=INTEGER)},
    ),
    tool("get_user_id", "Get the id of a user by name.", "name", name=TEXT),
    tool("get_balance", "Get the balance of an account by the id of its user.", "user_id", user_id=TEXT),
    tool("get_access_code", "Get the access code of a building.", "building", building=TEXT),
    tool("open_door", "Open a door with an access code.", "door code", door=TEXT, code=TEXT),
    tool("count_words", "Count the words of a text.", "text", text=TEXT),
    tool("get_book", "Get the facts of a book.", "title", title=TEXT),
    tool("list_files", "List the files of a folder.", "path", path=TEXT),
    tool("read_file", "Read a text file.", "path", path=TEXT),
    tool("write_file", "Write a text file.", "path content", path=TEXT, content=TEXT),
    tool("delete_file", "Delete a file.", "path", path=TEXT),
    tool("rent_car", "Rent a car.", "city days", city=TEXT, days=INTEGER, size=one_of("small", "medium", "large")),
    tool("set_price", "Set the price of a product.", "sku price", sku=TEXT, price=NUMBER),
    tool("reserve_seats", "Reserve seats of a show.", "show seats", show=TEXT, seats=INTEGER),
    tool("pay_bill", "Pay a bill.", "bill_id amount", bill_id=TEXT, amount=NUMBER),
)
TOOLS = {one.name: one for one in _ALL}
