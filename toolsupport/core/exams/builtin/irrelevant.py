"""No tool is needed: the model answers."""

from __future__ import annotations

from toolsupport.core.exams.builtin.case_builders import CaseWriter, says

_group = CaseWriter("irrelevant", quick=(1, 2, 3, 11))
_add = _group.add

_add("get_weather send_email", "Hello!")
_add("check_stock get_order", "Thank you, that was all.")
_add("get_weather set_alarm", "Who are you?")
_add("get_stock_price get_order", "What is the capital of Portugal?", answer=says(("Lisbon", "Lisboa")))
_add("send_email send_sms", "Is 17 a prime number? Answer with yes or no.", answer=says("yes"))
_add("search_products check_stock", "Name the opposite of “cold”.", answer=says(("hot", "warm")))
_add("delete_file read_file", "Why is it risky to delete files without a backup? One sentence, please.")
_add("get_weather get_forecast", "In which season does it snow in Norway most often?", answer=says("winter"))
_add("create_event list_events", "How many days does a week have?", answer=says(("7", "seven")))
_add("convert_currency", "What is the currency of Japan called?", answer=says("yen"))
_add("book_flight rent_car", "Write a short rhyme about the sea.")
_add("open_door get_access_code", "What do you need to know before you can open a door for me?")
CASES = tuple(_group.cases)
