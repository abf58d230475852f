"""Errors about a call that the model wrote and its server could not read, and errors that only sound like them."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.core.server_refusals import MALFORMED, OTHER, RULES, classify

# Wordings of vLLM, SGLang, llama-server, Ollama, TGI, LM Studio, Groq and gateways; and of other errors like them.
WIRE = Path(__file__).parents[2] / "wire" / "unreadable_calls.jsonl"
ROWS = [json.loads(line) for line in WIRE.read_text().splitlines()]
ABOUT_TOOLS = [rule for rule in RULES if rule.needed != ("",)]


@every("row", ROWS)
def test_the_label_of_an_error(row: dict[str, object]) -> None:  # D9
    assert classify(row["http_status"], row["body"]).label == row["label"]


@every("reason", ["function_call_filter: MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"])
def test_the_finish_reason_of_a_lost_call_is_one(reason: str) -> None:
    assert classify(200, reason).label == MALFORMED


def test_a_server_that_fails_read_the_request_and_one_that_refuses_did_not() -> None:
    for words in ("unexpected end of JSON input", "the tool call is empty", "invalid function name in the reply"):
        assert classify(500, json.dumps({"error": words})).label == MALFORMED
        assert classify(200, json.dumps({"error": words})).label == MALFORMED
        assert classify(400, json.dumps({"error": words})).label == OTHER


@every("status", (502, 503, 504))
def test_a_gateway_proves_nothing_but_for_the_code_of_a_lost_call(status: int) -> None:
    lost = {"error": {"message": "Provider returned error", "code": "tool_use_failed"}}
    assert classify(status, json.dumps(lost)).label == MALFORMED
    assert classify(status, "tool_use_failed").label == OTHER
    assert classify(status, f"<html><body>{json.dumps(lost)}</body></html>").label == OTHER
    assert classify(429, json.dumps(lost)).label == OTHER
    assert classify(status, json.dumps({"error": "failed to parse tool call"})).label == OTHER


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_a_rule_that_needs_a_word_matches_no_text_without_it(data: st.DataObject) -> None:
    rule = data.draw(st.sampled_from(ABOUT_TOOLS))
    found = rule.pattern.search(data.draw(st.from_regex(rule.pattern)))
    assert found is None or any(word in found.string for word in rule.needed)


def test_many_rules_are_left_out_for_a_text_without_their_words() -> None:
    assert len(ABOUT_TOOLS) >= 15
