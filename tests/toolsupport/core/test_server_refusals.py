"""The classifier against the labelled corpus, other wordings of the same meanings, and what must never decide."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.core.server_refusals import (
    MALFORMED,
    MISCONFIGURED,
    OTHER,
    RULES,
    UNSUPPORTED,
    classify,
)

LABELS = (UNSUPPORTED, MISCONFIGURED, MALFORMED, OTHER)
WIRE = Path(__file__).parents[2] / "wire" / "errors.jsonl"
CORPUS = [json.loads(line) for line in WIRE.read_text().splitlines()]
REFUSAL = "registry.ollama.ai/library/phi:2.7b does not support tools"


def test_precision_and_recall_on_the_corpus() -> None:
    matrix = Counter((row["label"], classify(row["http_status"], row["body"]).label) for row in CORPUS)
    print("\n" + "\n".join(" ".join(f"{matrix[true, said]:4}" for said in LABELS) + f"  {true}" for true in LABELS))
    assert len(CORPUS) == 97
    for label in LABELS:
        right = matrix[label, label]
        assert right / sum(matrix[label, said] for said in LABELS) >= 0.94, f"recall of {label}"
        assert right / sum(matrix[true, label] for true in LABELS) >= 0.94, f"precision of {label}"


# Meanings in words that the corpus does not have.
OTHER_WORDS = [
    (400, "This model doesn't support tool use.", UNSUPPORTED),
    (400, "This model doesn’t support function calling", UNSUPPORTED),
    (400, "`tool calling` is not supported with this model", UNSUPPORTED),
    (400, "Function call is not supported for this model.", UNSUPPORTED),
    (400, "The tool call is not supported.", UNSUPPORTED),
    (400, "Tools aren't supported by the selected model", UNSUPPORTED),
    (400, "tool use is not supported by the provided model", UNSUPPORTED),
    (400, "Function calling is not enabled for models/gemma-3-27b-it", UNSUPPORTED),
    (400, "Unsupported parameter: 'tools' is not supported with this model.", UNSUPPORTED),
    (404, 'No endpoints found that support tool use. Try disabling "question".', UNSUPPORTED),
    (422, "Model x is not capable of function calling", UNSUPPORTED),
    (400, "Tool calling is currently not supported for x", OTHER),
    (500, "tools param requires --jinja flag", MISCONFIGURED),
    (500, "Cannot use tools with stream", MISCONFIGURED),
    (400, "Streaming isn't available with tool calling", MISCONFIGURED),
    (400, "Tools and streaming cannot be combined", MISCONFIGURED),
    (400, "Streaming is unsupported with function calling", MISCONFIGURED),
    (400, "Please set stream to false when using tools", MISCONFIGURED),
    (400, "When tools are provided, streaming is not supported", MISCONFIGURED),
    (500, "Tool call JSON could not be parsed", MALFORMED),
    (400, "502 Bad Gateway: this model does not support tools", OTHER),
    (400, "upstream returned 503: this model does not support tools", OTHER),
    (400, "The model `x` doesn't have tool support", UNSUPPORTED),
    (400, "This model doesn't support tool use in streaming mode.", MISCONFIGURED),
    (400, "Unrecognized request argument supplied: tools", MISCONFIGURED),
    (400, "Tool calling is disabled on this server", MISCONFIGURED),
    (400, "Function calling is not enabled for this deployment", MISCONFIGURED),
    (400, "tools are only supported in API version 2024-07-01 and later", MISCONFIGURED),
    (500, "error parsing tool call: raw='{\"a\"', err=unexpected end of JSON input", MALFORMED),
    (400, "Failed to call a function. Please adjust your prompt.", MALFORMED),
    (500, "The model produced an invalid tool call", MALFORMED),
    (400, "Tool use with function calling is unsupported", OTHER),
    (400, "Parallel tool calls are not supported", OTHER),
    (400, "x does not support parallel tool calls", OTHER),
    (400, "Tool calls are not supported when response_format is set", OTHER),
    (400, "x does not support this tool_choice", OTHER),
    (400, "x does not support tool_choice", OTHER),
    (400, "x does not support tools of type web_search", OTHER),
    (400, "This model only supports single tool-calls at once!", OTHER),
    (400, "When using `tool_choice`, `tools` must be set.", OTHER),
    (404, "No endpoints found that support the provided 'tool_choice' value.", OTHER),
    (404, 'model "x does not support tools" not found', OTHER),
    (400, "x does not support thinking", OTHER),
    (400, "Reasoning is mandatory for this endpoint and cannot be disabled.", OTHER),
    (400, "Budget 0 is invalid. This model only works in thinking mode.", OTHER),
    (400, "The value of the enable_thinking parameter is restricted to True.", OTHER),
    (400, "`reasoning_effort` must be one of `low`, `medium`, or `high`", OTHER),
    (400, "Unsupported value: 'reasoning_effort' does not support 'none' with this model.", OTHER),
    (400, "my-tools does not support chat", OTHER),
]

ENVELOPES = {
    "plain": lambda text: text,
    "string": lambda text: json.dumps({"error": text}),
    "object": lambda text: json.dumps({"error": {"message": text, "type": "invalid_request_error", "code": None}}),
    "json in a string": lambda text: json.dumps({"error": json.dumps({"error": {"message": text, "code": 400}})}),
    "flat": lambda text: json.dumps({"object": "error", "message": text, "code": 400}),
    "detail": lambda text: json.dumps({"detail": text}),
    "details": lambda text: json.dumps({"detail": [{"loc": ["body"], "msg": text}]}),
    "nested message": lambda text: json.dumps({"object": "error", "message": {"detail": [{"message": text}]}}),
    "array": lambda text: json.dumps([{"error": {"code": 400, "message": text, "status": "INVALID_ARGUMENT"}}]),
    "raw": lambda text: json.dumps(
        {"error": {"message": "Provider returned error", "metadata": {"raw": json.dumps({"error": text})}}}
    ),
    "a lead before JSON": lambda text: json.dumps({"error": f"upstream said 400: {json.dumps({'error': text})}"}),
    "repr": lambda text: json.dumps({"error": {"message": f"Error code: 400 - { ({'error': {'message': text}})!r}"}}),
    "sse": lambda text: f"data: {json.dumps({'error': {'message': text}})}\n\n",
    "sse event": lambda text: f"event: error\ndata: {json.dumps({'error': {'message': text}})}\n\n",
    "ndjson": lambda text: f"{json.dumps({'error': text})}\n",
    "broken JSON": lambda text: '{"error": {"message": "' + text + "}",
}


@pytest.mark.parametrize("envelope", ENVELOPES)
@every("status, text, label", OTHER_WORDS)
def test_meaning_in_every_envelope(status: int, text: str, label: str, envelope: str) -> None:
    assert classify(status, ENVELOPES[envelope](text)).label == label


PAGES = {
    "a page": "<html><body><h1>Bad Request</h1><p>{}</p></body></html>",
    "a page with a type": "<!DOCTYPE html>\n<html lang='en'><head><title>{}</title></head></html>",
    "part of a page": "<h1>Bad Request</h1><p>{}</p>",
    "a page in JSON": '{{"error": {{"message": "upstream: <html><head></head><body>{}</body></html>"}}}}',
}


@pytest.mark.parametrize("page", PAGES)
@every("status, text", [(status, text) for status, text, _ in OTHER_WORDS if '"' not in text])
def test_a_page_proves_nothing(status: int, text: str, page: str) -> None:
    assert classify(status, PAGES[page].format(text)).label == OTHER


# A page that a model writes into a call is not one that a proxy wrote.
@pytest.mark.parametrize(
    "text",
    [
        'error parsing tool call: raw=\'{"text": "<!DOCTYPE html><html><head>\', err=unexpected end of JSON input',
        "XML syntax error on line 3: element <html> closed by </parameter>",
        "XML syntax error on line 3: element <body> closed by </parameter>",
        "Failed to parse input at pos 3: <html><head><title>x",
    ],
)
def test_a_call_that_writes_a_page_is_a_call(text: str) -> None:
    assert classify(500, json.dumps({"error": text})).label == MALFORMED


@pytest.mark.parametrize("status", [502, 503, 504])
@every("_, text, label", OTHER_WORDS)
def test_what_stands_before_a_server_proves_nothing(_: int, text: str, label: str, status: int) -> None:
    assert classify(status, ENVELOPES["object"](text)).label == OTHER
    assert classify(200, json.dumps({"error": {"code": status, "message": text}})).label == OTHER


@every("envelope", ENVELOPES)
@every("status", [401, 402, 403, 408, 429, 502, 503, 504, 529])
def test_who_must_pay_wait_or_come_back_learns_nothing(status: int, envelope: str) -> None:
    assert classify(status, ENVELOPES[envelope](REFUSAL)).label == OTHER


def test_a_status_inside_of_a_200_counts_too() -> None:
    assert classify(200, json.dumps({"error": {"code": 429, "message": REFUSAL}})).label == OTHER


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "Bad request", "failed_generation": REFUSAL}},
        {"error": {"message": "Bad request", "param": REFUSAL}},
        {"detail": [{"loc": ["body", "messages"], "msg": "Field required", "input": REFUSAL, "url": REFUSAL}]},
        {"error": f"error parsing tool call: raw='{REFUSAL}', err=x"},
        {"error": {"message": f"Failed to parse input at pos 3: {REFUSAL}"}},
        {"error": f"Invalid schema for function '{REFUSAL}': no"},
        {"error": f"Tool '{REFUSAL}' not found in tools list."},
    ],
)
def test_what_a_user_wrote_does_not_decide(body: dict) -> None:
    assert classify(400, json.dumps(body)).label in (OTHER, MALFORMED)


def test_the_words_are_handed_on() -> None:
    refusal = classify(400, ENVELOPES["json in a string"](REFUSAL))
    assert (refusal.message, refusal.rule) == (REFUSAL, "does-not-support")
    assert classify(500, "").message == ""


@given(st.integers(200, 599), st.text(max_size=200) | st.text("{}[]\"'\\:,eror d", max_size=80))
def test_no_body_is_an_accident(status: int, body: str) -> None:
    assert classify(status, body).label in LABELS


@pytest.mark.parametrize("body", ["[" * 100_000, '{"error":' * 20_000, "{'a':" * 2_000, '"' * 50_000, "\\" * 50_000])
def test_deep_and_long_bodies_end(body: str) -> None:
    assert classify(400, body).label == OTHER
    assert classify(400, json.dumps({"error": body})).label == OTHER


def test_every_rule_has_a_name_of_its_own_and_a_known_label() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    assert {rule.label for rule in RULES} == set(LABELS)
