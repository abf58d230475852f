"""Which calls may run, which are corrected, and the reasons for rejected ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from tests.processor_time import must_cost_at_most
from tests.tables import every
from toolsupport.core import call_validation
from toolsupport.core.call_validation import check
from toolsupport.core.events import CallReady, CallRejected
from toolsupport.core.types import JSON, ToolCall, ToolSpec

READ = ToolSpec(
    "read_file",
    "Reads a file.",
    {
        "type": "object",
        "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}},
        "required": ["path"],
        "additionalProperties": False,
    },
)
OFFERED = (READ, ToolSpec("web_search"), ToolSpec("mcp__fs__list_directory"), ToolSpec("file"), ToolSpec("Now"))


def call(name: str, arguments: JSON | None = None) -> ToolCall:
    return ToolCall("call_1", name, {"path": "a"} if arguments is None else arguments)


def rejected(outcome: CallReady | CallRejected) -> CallRejected:
    assert isinstance(outcome, CallRejected)
    return outcome


def test_a_call_that_fits_is_left_alone() -> None:
    given_call = call("read_file")
    assert check(given_call, OFFERED) == CallReady(given_call)


@every(
    ("asked", "meant"),
    [
        ("Read_File", "read_file"),
        ("READ_FILE", "read_file"),
        (" read_file\n", "read_file"),
        ("functions.read_file", "read_file"),
        ("tool:read_file", "read_file"),
        ("default_api/read_file", "read_file"),
        ("fs__read_file", "read_file"),
        ("list_directory", "mcp__fs__list_directory"),
        ("now", "Now"),
        ("read_file<|channel|>commentary", "read_file"),
        ("functions.read_file <|constrain|>json", "read_file"),
        ("functions.read_file:0", "read_file"),
        ("list_directory:12", "mcp__fs__list_directory"),
        ("read_file</arg_value>", "read_file"),
        ('"read_file"', "read_file"),
        ("<function=read_file>", "read_file"),
    ],
)
def test_a_name_is_corrected_and_that_is_written_down(asked: str, meant: str) -> None:
    outcome = check(call(asked), OFFERED)
    assert isinstance(outcome, CallReady)
    assert (outcome.call.name, outcome.call.id) == (meant, "call_1")
    assert outcome.call.repairs == (f"asked for {asked}, meant {meant}",)


@every(
    "asked", ["delete_file", "profile", "unread_file_s", "file_read", "", "directory.", "_", ".", "<|channel|>", ":0"]
)
def test_a_name_is_not_guessed(asked: str) -> None:
    assert rejected(check(call(asked), OFFERED)).name == asked


def test_two_that_could_be_meant_are_none() -> None:
    two = (ToolSpec("a.search"), ToolSpec("b.search"))
    assert isinstance(check(call("search"), two), CallRejected)
    assert isinstance(check(call("NOW"), (ToolSpec("Now"), ToolSpec("now"))), CallRejected)


def test_did_you_mean() -> None:
    outcome = rejected(check(call("web_serch", {"q": "x"}), OFFERED))
    assert outcome.suggestion == "web_search"
    assert outcome.reason == 'There is no tool called "web_serch". Did you mean "web_search"?'
    assert (outcome.raw, outcome.id) == ('{"q":"x"}', "call_1")


def test_what_there_is_where_nothing_is_near() -> None:
    reason = rejected(check(call("zzz"), OFFERED)).reason
    assert "read_file, web_search" in reason
    assert "answer without" in rejected(check(call("zzz"), ())).reason


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, '"path" is a required property'),
        ({"path": None}, 'path: null is not of type "string"'),
        ({"path": "a", "lines": "three"}, 'lines: "three" is not of type "integer"'),
        ({"path": "a", "lines": "3", "mode": "r"}, 'lines: "3" is not of type "integer"'),
        ({"path": "a", "mode": "r"}, "mode"),
    ],
)
def test_arguments_that_do_not_fit(arguments: JSON, words: str) -> None:
    outcome = rejected(check(call("read_file", arguments), OFFERED))
    assert words in outcome.reason
    assert "Call it again" in outcome.reason
    assert outcome.name == "read_file"


TYPED: JSON = {
    "type": "object",
    "properties": {
        "whole": {"type": "integer"},
        "part": {"type": "number"},
        "sure": {"type": "boolean"},
        "names": {"type": "array", "items": {"type": "string"}},
        "where": {"type": "object", "properties": {"line": {"type": "integer"}}},
        "word": {"type": "string"},
        "maybe": {"type": ["integer", "null"]},
        "either": {"anyOf": [{"type": "boolean"}, {"type": "integer"}]},
        "many": {"type": "array", "items": {"type": "integer", "minimum": 1}},
        "small": {"type": "integer", "maximum": 5},
        "level": {"enum": [1, 2]},
    },
}
REPAIRED = [
    ("whole", "3", 3, "whole: read string as integer"),
    ("whole", " 3 ", 3, "whole: read string as integer"),
    ("whole", "3.0", 3, "whole: read string as integer"),
    ("part", "2.5", 2.5, "part: read string as number"),
    ("sure", "true", True, "sure: read string as boolean"),
    ("sure", "False", False, "sure: read string as boolean"),
    ("names", "Ada", ["Ada"], "names: read string as array"),
    ("names", '["a", "b"]', ["a", "b"], "names: read string as array"),
    ("names", [1, "b"], ["1", "b"], "names: read parts by their schema"),
    ("where", '{"line": 3}', {"line": 3}, "where: read string as object"),
    ("where", {"line": "3"}, {"line": 3}, "where: read parts by their schema"),
    ("word", 5, "5", "word: read integer as string"),
    ("maybe", "null", None, "maybe: read string as null"),
    ("maybe", "7", 7, "maybe: read string as integer"),
    ("either", "true", True, "either: read string as boolean"),
    ("many", ["1", "2"], [1, 2], "many: read parts by their schema"),
    ("small", "4", 4, "small: read string as integer"),
    ("level", "2", 2, "level: read string as integer"),
]


@every("name, written, meant, repair", REPAIRED)
def test_arguments_take_the_types_of_the_schema(name: str, written: object, meant: object, repair: str) -> None:
    outcome = check(call("typed", {name: written}), (ToolSpec("typed", "", TYPED),))
    assert isinstance(outcome, CallReady)
    assert (outcome.call.arguments, outcome.call.repairs) == ({name: meant}, (repair,))


@pytest.mark.parametrize(
    ("name", "written"),
    [("whole", "several"), ("whole", ""), ("whole", 2.5), ("small", "9"), ("sure", "yes"), ("level", "3")],
)
def test_arguments_that_mean_nothing_else_are_rejected(name: str, written: object) -> None:
    assert rejected(check(call("typed", {name: written}), (ToolSpec("typed", "", TYPED),))).fault == "schema"


def test_arguments_that_fit_are_never_changed() -> None:
    arguments = {"word": "3", "maybe": None, "whole": 3.0, "other": "5"}
    outcome = check(call("typed", arguments), (ToolSpec("typed", "", TYPED),))
    assert outcome == CallReady(call("typed", arguments))


ADDRESSED: JSON = {
    "type": "object",
    "properties": {
        "street_name": {"type": "string"},
        "Zip-Code": {"type": "string"},
        "days": {"type": "integer"},
        "unit": {"enum": ["a", "b"]},
        "note": {"type": ["string", "null"]},
        "old": {"type": "integer", "nullable": True},
        "listed": {"type": "string", "enum": ["x"], "nullable": True},
    },
    "required": ["street_name"],
}
GIVEN = {"street_name": "Elm"}
MEANT = [
    ("an optional one is null", {**GIVEN, "days": None, "unit": None}, GIVEN),
    ("an optional one is the word", {**GIVEN, "days": "None"}, GIVEN),
    ("null is allowed", {**GIVEN, "note": None, "days": None}, {**GIVEN, "note": None}),
    ("OpenAPI's null", {**GIVEN, "old": None, "listed": None}, {**GIVEN, "old": None, "listed": None}),
    ("another case", {"streetName": "Elm", "zip_code": "1"}, {**GIVEN, "Zip-Code": "1"}),
    ("a hyphen", {"street-name": "Elm"}, GIVEN),
    ("another case and a type", {"streetName": "Elm", "Days": "3"}, {**GIVEN, "days": 3}),
    ("wrapped", {"arguments": GIVEN}, GIVEN),
    ("wrapped in a text", {"input": '{"street_name": "Elm"}'}, GIVEN),
    ("wrapped with the name", {"name": "addressed", "parameters": GIVEN}, GIVEN),
    ("wrapped though nothing is required", {"parameters": {"street_name": "Elm", "days": "3"}}, {**GIVEN, "days": 3}),
]
NOT_MEANT: list[JSON] = [
    {"street_name": None},
    {"streetName": "Elm", "STREET_NAME": "Oak"},
    {"arguments": {"street_name": "Elm", "other": 1}},
    {"arguments": GIVEN, "parameters": {}},
    {"data": GIVEN},
    {"name": "another", "arguments": GIVEN},
    {"input": "Elm"},
]


@every("_what, written, meant", MEANT)
def test_arguments_that_can_only_mean_one_thing_are_read(_what: str, written: JSON, meant: JSON) -> None:
    outcome = check(call("addressed", written), (ToolSpec("addressed", "", ADDRESSED),))
    assert isinstance(outcome, CallReady)
    assert outcome.call.arguments == meant
    assert bool(outcome.call.repairs) == (written != meant)


@every("written", NOT_MEANT)
def test_arguments_that_could_mean_another_thing_are_not_read(written: JSON) -> None:
    assert rejected(check(call("addressed", written), (ToolSpec("addressed", "", ADDRESSED),))).fault == "schema"


def test_a_declared_argument_is_no_wrapper() -> None:
    schema: JSON = {"type": "object", "properties": {"input": {"type": "object"}, "city": {"type": "string"}}}
    for arguments, parameters in (
        ({"input": {"city": "Bonn"}}, schema),
        ({"params": {"city": "Bonn"}}, {**schema, "additionalProperties": True}),
    ):
        outcome = check(call("f", arguments), (ToolSpec("f", "", parameters),))
        assert outcome == CallReady(call("f", arguments))


def test_complaints_are_few_and_short() -> None:
    many = {f"p{number}": "x" * 1000 for number in range(100)}
    schema: JSON = {"type": "object", "additionalProperties": {"type": "integer"}}
    complaints = call_validation.complaints_about(many, schema)
    assert len(complaints) == 5
    assert max(map(len, complaints)) <= 300


@pytest.mark.parametrize("scheme", ["file", "http", "https", "urn"])
def test_a_schema_reaches_nothing_outside(scheme: str, tmp_path: Path) -> None:
    outside = tmp_path / "schema.json"
    outside.write_text('{"type": "integer"}')
    reference = f"file://{outside}" if scheme == "file" else f"{scheme}://127.0.0.1:1/schema.json"
    schema: JSON = {"type": "object", "properties": {"a": {"$ref": reference}}}
    [complaint] = call_validation.complaints_about({"a": 1}, schema)
    assert "is outside of the schema" in complaint


def test_a_schema_refers_to_itself() -> None:
    schema: JSON = {"$defs": {"n": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/n"}}}
    assert call_validation.complaints_about({"a": 1}, schema) == []
    assert call_validation.complaints_about({"a": "x"}, schema)


@pytest.mark.parametrize("schema", [{"type": "nonsense"}, {"properties": 5}, {"pattern": "("}, {"$schema": "x:y"}])
def test_a_broken_schema_lets_nothing_pass(schema: JSON) -> None:
    assert "cannot be used" in call_validation.complaints_about({}, schema)[0]


@pytest.mark.parametrize(
    ("part", "right", "wrong"),
    [
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, 2, 1),
        ({"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}, ["a", 1], ["a", "b"]),
        ({"type": "string", "pattern": r"^[\w-\.]+@([\w-]+\.)+[\w-]{2,4}$"}, "ada-l.b@x.org", "ada l@x.org"),
        ({"type": "string", "pattern": r"^{\d{2}}$"}, "{42}", "42"),
    ],
)
def test_a_schema_of_an_older_draft_or_for_a_browser_is_checked(part: JSON, right: object, wrong: object) -> None:
    schema: JSON = {"type": "object", "properties": {"a": part}}
    further: tuple[JSON, ...] = ({}, {"required": []}, {"$defs": {}})
    for more in further:
        assert call_validation.unusable(schema | more) == ""
        assert call_validation.complaints_about({"a": right}, schema | more) == []
        assert call_validation.complaints_about({"a": wrong}, schema | more)


NULLABLE: list[tuple[JSON, bool]] = [
    ({"type": "string", "nullable": True}, True),
    ({"type": "string", "enum": ["x"], "nullable": True}, True),
    ({"$ref": "#/$defs/d", "nullable": True}, True),
    ({"allOf": [{"$ref": "#/$defs/d"}], "nullable": True}, True),
    ({"type": "object", "allOf": [{"$ref": "#/$defs/d"}], "nullable": True}, True),
    ({"type": "string", "nullable": False}, False),
    ({"type": "object", "properties": {"nullable": {"const": True}}}, False),
]


@every("part, allowed", NULLABLE)
def test_null_as_openapi_allows_it(part: JSON, allowed: bool) -> None:
    schema: JSON = {"type": "object", "nullable": True, "properties": {"a": part}, "$defs": {"d": {"type": "object"}}}
    assert (call_validation.complaints_about({"a": None}, schema) == []) is allowed
    assert call_validation.complaints_about({"a": 1}, schema)


@pytest.mark.parametrize("draft", ["http://json-schema.org/draft-07/schema#", None])
def test_a_format_refuses_no_text(draft: str | None) -> None:
    schema: JSON = {"properties": {"a": {"type": "string", "format": "uri"}, "b": {"format": "date-time"}}}
    schema |= {"$schema": draft} if draft else {}
    arguments = {"a": "https://de.wikipedia.org/wiki/Käse", "b": "2026-01-31 10:00"}
    assert call_validation.complaints_about(arguments, schema) == []


def large(part: JSON, count: int = 800) -> JSON:
    return {"type": "object", "properties": {f"p{number}": part for number in range(count)}}


def test_a_large_schema_is_not_compiled_before_a_call() -> None:
    before = call_validation._large_checker.cache_info().misses
    assert call_validation.unusable(large({"type": "string", "description": "x"})) == ""
    assert call_validation._large_checker.cache_info().misses == before
    assert call_validation.unusable(large({"type": "array", "items": [{"type": "string"}]})) == ""


@pytest.mark.parametrize("schema", [large({"type": "text"}), large({"type": "string"}, 6000), {"$defs": 5}])
def test_a_schema_that_no_call_could_fit_is_found(schema: JSON) -> None:
    assert "cannot be used" in call_validation.unusable(schema)


def test_a_slow_pattern_gives_up() -> None:
    schema: JSON = {"properties": {"a": {"type": "string", "pattern": r"^(a+)+\1$"}}}
    assert call_validation.complaints_about({"a": "a" * 40 + "b"}, schema)


def declared(count: int, part: JSON) -> JSON:
    return {"properties": {f"name_{number}": part for number in range(count)}, "required": ["q"]}


def given(count: int, value: object, prefix: str = "name") -> JSON:
    return {f"{prefix}_{number}": value for number in range(count)}


ONE_OF_MANY = {"$defs": {"A": declared(900, {"type": "integer"})}, "anyOf": [{"$ref": "#/$defs/A"}] * 200}
PARTS_OF_MANY = {**ONE_OF_MANY, "anyOf": [{"allOf": [{"$ref": "#/$defs/A"}]} for _ in range(200)]}
OBJECTS = [{"type": "object", "properties": {"a": {"enum": [number]}}} for number in range(190)]
REFERRING = {"$defs": {"B": {"anyOf": OBJECTS}}, **declared(150, {"$ref": "#/$defs/B"})}
WRAPPED = {"$defs": {"B": {"anyOf": [{"type": "integer"}] * 190}}, **declared(450, {"anyOf": [{"$ref": "#/$defs/B"}]})}
ITEMS = declared(1, {"type": "array", "items": {"anyOf": [declared(900, {"type": "integer"})] * 20}})


@every(
    "schema, arguments",
    [
        *((schema, given(900, None)) for schema in (ONE_OF_MANY, PARTS_OF_MANY)),
        *((schema, given(450, 1, "Name")) for schema in (ONE_OF_MANY, PARTS_OF_MANY)),
        *((REFERRING, given(150, value)) for value in (None, "none", "3", {"b": 1})),
        (WRAPPED, given(450, None)),
        (ITEMS, given(1, [{}] * 2_900)),
    ],
)
def test_many_arguments_of_many_alternatives_are_soon_rejected(schema: JSON, arguments: JSON) -> None:
    # As after json.loads, which writes each part that is repeated here as an object of its own.
    offered = (ToolSpec("f", "", json.loads(json.dumps({"type": "object", **schema}))),)
    check(call("f", {}), offered)  # compiles the schema
    with must_cost_at_most(0.1):
        rejected(check(call("f", arguments), offered))


@every(
    "arguments",
    [
        {"path": "\ud800"},
        {"\udfff": "a"},
        {"path": "a", "lines": float("nan")},
        # Not the texts of these either, where a text is wanted.
        {"path": float("inf")},
        {"path": [float("nan")]},
    ],
)
def test_what_is_not_json_does_not_pass(arguments: JSON) -> None:
    assert "holds" in rejected(check(call("read_file", arguments), OFFERED)).reason


def test_a_schema_is_compiled_once() -> None:
    call_validation._checker.cache_clear()
    for _ in range(10):
        check(call("read_file"), OFFERED)
    assert call_validation._checker.cache_info().misses == 1


@drawn(st.text(max_size=30), st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3))
def test_what_passes_was_offered_and_fits(name: str, arguments: JSON) -> None:
    outcome = check(call(name, arguments), OFFERED)
    if isinstance(outcome, CallReady):
        [spec] = [spec for spec in OFFERED if spec.name == outcome.call.name]
        assert call_validation.complaints_about(outcome.call.arguments, spec.parameters) == []
        assert outcome.call.name == name or outcome.call.repairs
    else:
        assert outcome.reason
