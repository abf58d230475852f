"""The tool that is needed is missing, and similar ones are there: none of them may be called."""

from __future__ import annotations

from toolsupport.core.exams.builtin.case_builders import CaseWriter

_group = CaseWriter("missing", quick=(1, 2, 3, 5))
_add = _group.add

_add("get_weather get_forecast", "Write a file called list.txt with the text apples.")
_add("get_stock_price convert_currency", "Read the file budget.csv.")
_add("send_email send_sms", "Run the command ls.")
_add("get_order get_customer", "Delete the customer with the email old@example.com.")
_add("get_weather get_air_quality", "What is the water temperature of the sea at Malta right now?")
_add("list_events create_event", "Move the event ev_12 to another room.")
_add("play_music set_alarm", "Record the sound of this room for ten seconds.")
_add("read_file list_files", "Print the file poster.pdf on the printer on the second floor.")
_add("get_balance get_user_id", "Transfer 50 euros from my account to the account of Lena.")
_add("book_table find_route", "Order a taxi to the airport for me now.")
_add("check_stock set_price", "How many people visited our web shop yesterday?")
_add("translate_text count_words", "Call my dentist and make an appointment for Monday.")
CASES = tuple(_group.cases)
