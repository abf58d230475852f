"""Arguments are objects in objects, or lists of objects."""

from __future__ import annotations

from toolsupport.core.exams.builtin.case_builders import CaseWriter, call

_group = CaseWriter("nested", quick=(1, 2, 3, 10))
_add = _group.add

_add(
    "create_customer",
    'Call create_customer with {"customer": {"name": "Ida Berg", "email": "ida@example.com"}}.',
    call("create_customer", customer={"name": "Ida Berg", "email": "ida@example.com"}),
)
_add(
    "set_scores tag_page",
    'Call tag_page with {"page": "Start", "tags": ["new", "blue"]}.',
    call("tag_page", page="Start", tags=["new", "blue"]),
)
_add(
    "update_settings",
    'Call update_settings with {"account": "ana", "settings": {"theme": "dark", "notifications": {"email": false}}}.',
    call("update_settings", account="ana", settings={"theme": "dark", "notifications": {"email": False}}),
)
_add(
    "create_customer",
    "Create the customer Tom Lind, tom@example.com, who lives at 4 Mill Lane, Bath.",
    call(
        "create_customer",
        customer={
            "name": "Tom Lind",
            "email": "tom@example.com",
            "address": {"street": "4 Mill Lane", "city": "Bath"},
        },
    ),
)
_add(
    "create_invoice",
    "Invoice Nordwind for 3 chairs at 45.50 each and 1 desk at 210.",
    call(
        "create_invoice",
        {"lines": [[{"item": "chair", "quantity": 3, "price": 45.5}, {"item": "desk", "quantity": 1, "price": 210}]]},
        customer="Nordwind",
        lines=[{"item": "chairs", "quantity": 3, "price": 45.5}, {"item": "desk", "quantity": 1, "price": 210}],
    ),
)
_add(
    "update_settings",
    "Switch SMS notifications off and email notifications on for the account kai.",
    call("update_settings", account="kai", settings={"notifications": {"email": True, "sms": False}}),
)
_add(
    "filter_rows",
    "In the table orders, keep the rows whose column status contains open and whose column total is greater than 100.",
    call(
        "filter_rows",
        {
            "filters": [
                [
                    {"column": "total", "operator": ">", "value": "100"},
                    {"column": "status", "operator": "contains", "value": "open"},
                ]
            ]
        },
        table="orders",
        filters=[
            {"column": "status", "operator": "contains", "value": "open"},
            {"column": "total", "operator": ">", "value": "100"},
        ],
    ),
)
_add(
    "place_order",
    "Order 2 pieces of sku CUP-1 and 6 of sku TEA-9 to 12 Harbour Street, Cork.",
    call(
        "place_order",
        items=[{"sku": "CUP-1", "quantity": 2}, {"sku": "TEA-9", "quantity": 6}],
        address={"street": "12 Harbour Street", "city": "Cork"},
    ),
)
_add(
    "update_settings",
    "Set the language of the account mia to Dutch and use the light theme.",
    call(
        "update_settings",
        {"settings": [{"language": "nl", "theme": "light"}]},
        account="mia",
        settings={"language": "Dutch", "theme": "light"},
    ),
)
_add(
    "filter_rows",
    'Call filter_rows with {"table": "people", "filters": [{"column": "city", "operator": "=", "value": "Oslo"}]}.',
    call("filter_rows", table="people", filters=[{"column": "city", "operator": "=", "value": "Oslo"}]),
)
_add(
    "create_invoice",
    "Make out an invoice to Baker Ltd in GBP: 10 sacks of flour at 7.25.",
    call(
        "create_invoice",
        {
            "lines": [
                [{"item": "sacks of flour", "quantity": 10, "price": 7.25}],
                [{"item": "flour", "quantity": 10, "price": 7.25}],
                [{"item": "flour sack", "quantity": 10, "price": 7.25}],
                [{"item": "flour sacks", "quantity": 10, "price": 7.25}],
            ]
        },
        customer="Baker Ltd",
        currency="GBP",
        lines=[{"item": "sack of flour", "quantity": 10, "price": 7.25}],
    ),
)
_add(
    "create_customer",
    "Create the customer Zoe Ray with the email zoe@example.com and the address 8 Rue Verte, 69001 Lyon, France.",
    call(
        "create_customer",
        customer={
            "name": "Zoe Ray",
            "email": "zoe@example.com",
            "address": {"street": "8 Rue Verte", "city": "Lyon", "postal_code": "69001", "country": "France"},
        },
    ),
)
CASES = tuple(_group.cases)
