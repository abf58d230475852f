"""A later call needs the result of an earlier one."""

from __future__ import annotations

from toolsupport.core.exams.builtin.case_builders import CaseWriter, call, result, says

_group = CaseWriter("turns", quick=(1, 2, 3, 4))
_add = _group.add

_add(
    "get_access_code open_door",
    "Call get_access_code with building=North, then call open_door with door=main and the code it returns.",
    call("get_access_code", building="North"),
    call("open_door", door="main", code="K7-4410"),
    recorded=(result("get_access_code", "code: K7-4410"), result("open_door", "The door is open.")),
    order="exact",
)
_add(
    "get_user_id get_balance",
    "Call get_user_id with name=Ravi, then call get_balance with the user_id it returns.",
    call("get_user_id", name="Ravi"),
    call("get_balance", user_id="u-5521"),
    recorded=(result("get_user_id", "user_id: u-5521"), result("get_balance", "184.20")),
    order="exact",
)
_add(
    "read_file write_file",
    "Read version.txt and tell me the version.",
    call("read_file", path="version.txt"),
    recorded=(result("read_file", "version: 4.19.2"),),
    answer=says("4.19.2"),
)
_add(
    "read_file list_files",
    "What is the port in server.json?",
    call("read_file", path="server.json"),
    recorded=(result("read_file", '{"host": "db1", "port": 6543}'),),
    answer=says("6543"),
)
_add(
    "get_user_id get_balance",
    "What is the balance of the user Lena?",
    call("get_user_id", name="Lena"),
    call("get_balance", user_id="u-9081"),
    recorded=(result("get_user_id", '{"id": "u-9081"}'), result("get_balance", '{"balance": 73.15}')),
    order="exact",
    answer=says(("73.15", "73,15")),
)
_add(
    "get_customer get_order send_email",
    "Find out which order the customer jo@example.com placed last, and look that order up.",
    call("get_customer", email="jo@example.com"),
    call("get_order", order_id="C-340"),
    recorded=(
        result("get_customer", '{"name": "Jo", "last_order": "C-340"}'),
        result("get_order", '{"id": "C-340", "state": "shipped"}'),
    ),
    order="exact",
    answer=says("shipped"),
)
_add(
    "list_files read_file",
    "There is one file in the folder reports. Read it and give me the total in it.",
    call("list_files", {"path": ["reports/", "./reports"]}, path="reports"),
    call("read_file", {"path": ["./reports/q3.txt"]}, path="reports/q3.txt"),
    recorded=(result("list_files", "reports/q3.txt"), result("read_file", "Third quarter\ntotal: 9120")),
    order="exact",
    answer=says(("9120", "9,120", "9.120")),
)
_add(
    "get_weather set_thermostat",
    "If it is below 10 degrees in Bern, set the bedroom to 20 degrees, otherwise do nothing.",
    call("get_weather", city="Bern"),
    call("set_thermostat", room="bedroom", degrees=20),
    recorded=(result("get_weather", '{"city": "Bern", "degrees": 4}'), result("set_thermostat", "ok")),
    order="exact",
)
_add(
    "get_weather set_thermostat",
    "If it is below 10 degrees in Nice, set the bedroom to 20 degrees, otherwise do nothing.",
    call("get_weather", city="Nice"),
    recorded=(result("get_weather", '{"city": "Nice", "degrees": 17}'),),
)
_add(
    "check_stock place_order search_products",
    "Find a teapot in our shop and tell me how many pieces of it are in stock.",
    call("search_products", {"query": ["teapots"]}, optional="max_price in_stock sort", query="teapot"),
    call("check_stock", sku="POT-12"),
    recorded=(result("search_products", '[{"sku": "POT-12", "name": "Teapot"}]'), result("check_stock", "23")),
    order="exact",
    answer=says("23"),
)
_add(
    "get_stock_price convert_currency",
    "What does one share of SAP cost in dollars? The price comes in euros.",
    call("get_stock_price", symbol="SAP"),
    call("convert_currency", amount=201.4, source="EUR", target="USD"),
    recorded=(result("get_stock_price", "201.40 EUR"), result("convert_currency", "221.54")),
    order="exact",
    answer=says(("221.54", "221,54")),
)
_add(
    "read_file write_file",
    "Copy the text of first.txt into second.txt.",
    call("read_file", path="first.txt"),
    call("write_file", path="second.txt", content="The owl sleeps at noon."),
    recorded=(result("read_file", "The owl sleeps at noon."), result("write_file", "Written.")),
    order="exact",
)
CASES = tuple(_group.cases)
