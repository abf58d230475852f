"""The file user_models.json: every fault is named with its place, and writing is the inverse of reading."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.core import name_checks
from toolsupport.core.errors import ConfigError
from toolsupport.core.user_models import MOST_BYTES, MOST_ENTRIES, UserModel, UserModelsFile, read, write

# Letters that a file of UTF-8 and a database take.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
NAMES = TEXTS.filter(lambda name: not name_checks.problem(name) and not name_checks.path_problem(name))
UNKNOWN = st.dictionaries(TEXTS.map(lambda name: f"x-{name}"), JSON_VALUES, max_size=3)
MOMENTS = st.none() | st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))
BUILDS: st.SearchStrategy[dict[str, str]] = st.just({}) | st.fixed_dictionaries(
    {"digest": TEXTS, "template_hash": TEXTS, "server_version": st.sampled_from(["", "0.13.0"])}
)


@st.composite
def entries(draw: st.DrawFn, server: str = "") -> UserModel:
    """Any model of a file, as a site like ours would write it."""
    value = draw(st.none() | st.booleans())
    source = draw(st.sampled_from(["user_confirmed", "auto_detected", "declared"])) if value is not None else ""
    return UserModel(
        id=draw(NAMES),
        name=draw(NAMES),
        source="ollama",
        last_seen=draw(MOMENTS),
        tool_support=value,
        tool_support_source=source,
        tool_support_confirmed_at=draw(MOMENTS.filter(bool)) if value is not None else None,
        description=draw(TEXTS),
        abilities=tuple(draw(st.lists(TEXTS, max_size=3))),
        context_profiles=tuple(draw(st.lists(JSON_VALUES, max_size=2))),
        default_context=draw(st.integers(1, 2**31 - 1)),
        server=server,
        build=draw(BUILDS) if source == "auto_detected" else {},
        extra=draw(UNKNOWN),
    )


DOCUMENTS = st.builds(
    UserModelsFile, st.lists(entries(), max_size=5, unique_by=lambda entry: entry.key).map(tuple), UNKNOWN
)


@given(DOCUMENTS)
def test_reading_is_the_inverse_of_writing(document: UserModelsFile) -> None:  # M6
    assert read(write(document).encode()) == document
    assert write(read(write(document).encode())) == write(document)


@given(DOCUMENTS)
def test_unknown_fields_survive(document: UserModelsFile) -> None:  # M6
    written = json.loads(write(document))
    assert {**document.extra, "user_models": written["user_models"]} == written
    for entry, told in zip(document.entries, written["user_models"], strict=True):
        assert entry.extra.items() <= told.items()


def file_of(**fields: Any) -> bytes:
    return json.dumps({"user_models": [{"id": "fine"}, {"id": "qwen3:8b", **fields}]}).encode()


FAULTS = [
    (b"", "Line 1, column 1"),
    (b'{"user_models": [\n{"id": }]}', "Line 2, column 8"),
    (b'{"user_models": [\n{"id": "\xff"}]}', "Line 2: byte 26 is not UTF-8"),
    (b"[]", 'an object with a list "user_models"'),
    (b'{"user_models": {}}', 'an object with a list "user_models"'),
    (b'{"user_models": [1]}', "user_models[0]: expected an object, found 1"),
    (b'{"user_models": [{}]}', "user_models[0].id: expected a text"),
    (b'{"user_models": [{"id": "a", "id": "b"}]}', 'The key "id" appears twice'),
    (b'{"user_models": [{"id": "a", "x": NaN}]}', "NaN is no number"),
    (b'{"user_models": [{"id": "a", "x": -Infinity}]}', "-Infinity is no number"),
    (b'{"user_models": [{"id": "a", "x": 1e999}]}', "user_models[0].x: the number is too large"),
    (b'{"user_models": [{"id": "a", "x": ' + b"9" * 5000 + b"}]}", "too many digits"),
    (b'{"user_models": [{"id": "a", "x": ["\\ud800"]}]}', "user_models[0].x[0]: has a character"),
    (b'{"user_models": [{"id": "a", "\\u0000": 1}]}', "user_models[0]: has a character"),
    (b'{"user_models": [{"id": "a"}, {"id": "a"}]}', 'user_models[1]: the model "a" is already at [0]'),
    (b'{"user_models": ' + b"[" * 40 + b"]" * 40 + b"}", "nested deeper than 32 levels"),
    (b"[" * 200_000, "nested deeper"),
    (b'{"user_models": [' + b'{"id":"a"},' * MOST_ENTRIES + b'{"id":"a"}]}', "more than 10,000 models"),
    (b" " * (MOST_BYTES + 1), "more than 4 MiB"),
    (file_of(name=3), "user_models[1].name: expected a text, found 3"),
    (file_of(tool_support="yes"), 'user_models[1].tool_support: expected true, false or null, found "yes"'),
    (file_of(tool_support=1), "user_models[1].tool_support: expected true, false or null, found 1"),
    (file_of(last_seen="yesterday"), "user_models[1].last_seen: expected a time"),
    (file_of(tool_support_confirmed_at=[]), "user_models[1].tool_support_confirmed_at: expected a time"),
    (file_of(abilities="tools"), "user_models[1].abilities: expected a list of texts"),
    (file_of(abilities=[1]), "user_models[1].abilities: expected a list of texts"),
    (file_of(context_profiles={}), "user_models[1].context_profiles: expected a list"),
    (file_of(default_context=True), "user_models[1].default_context: expected a number of tokens"),
    (file_of(default_context=0), "user_models[1].default_context: expected a number of tokens"),
    (file_of(id="x" * 201), "user_models[1].id: expected a text of 1 to 200 letters"),
    (file_of(build={"digest": 1}), "user_models[1].build: expected an object of texts"),
    (file_of(build={"digest": "x" * 101}), "user_models[1].build.digest: expected a text of at most 100 letters"),
]


@every(("data", "words"), FAULTS)
def test_a_fault_is_named_with_its_place(data: bytes, words: str) -> None:  # M6
    with pytest.raises(ConfigError) as raised:
        read(data)
    assert words in str(raised.value)
    assert len(str(raised.value)) < 300


@given(st.binary(max_size=60) | st.text('{}[]":,user_modlsi01 \\', max_size=60).map(str.encode))
def test_no_file_is_an_accident(data: bytes) -> None:  # M6
    for content in (data, b'{"user_models": [' + data + b"]}"):
        try:
            read(content)
        except ConfigError as error:
            assert str(error).endswith(".")


def test_what_is_left_out_or_null_has_the_values_of_a_model_made_by_hand() -> None:  # M6
    for fields in ({}, {"name": None, "description": None, "tool_support": None, "default_context": None}):
        entry = read(json.dumps({"user_models": [{"id": "mine:1b", **fields}]}).encode()).entries[0]
        assert entry == UserModel("mine:1b", "mine:1b")
        assert (entry.description, entry.abilities, entry.context_profiles) == ("Custom model", (), ())
        assert entry.default_context == 4096


def test_moments_are_read_in_the_ways_people_write_them() -> None:
    moment = datetime(2026, 11, 3, 10, tzinfo=UTC)
    for written in ("2026-11-03T10:00:00Z", "2026-11-03T11:00:00+01:00", "2026-11-03T10:00:00", moment.timestamp()):
        assert read(file_of(last_seen=written)).entries[1].last_seen == moment


@every(
    "field, name, words",
    [
        *((field, name, "is blank") for field in ("id", "name") for name in (" ", "\u3000", "\u2800")),
        *((field, "a\u202eb", r"invisible character U\+202E") for field in ("id", "name", "source", "server")),
        *((field, "a\nb", r"invisible character U\+000A") for field in ("id", "name", "source", "server")),
        *((field, "../b", "is a path") for field in ("name", "source", "server")),
        ("id", " qwen3", "begins or ends with a space"),
    ],
)
def test_names_that_people_could_not_see_are_refused_with_their_place(field: str, name: str, words: str) -> None:  # M6
    good = {"id": "qwen3:8b", "source": "ollama"}
    with pytest.raises(ConfigError, match=rf"^user_models\[1\].{field}: the name .* {words}"):
        read(json.dumps({"user_models": [good, good | {"id": "other", field: name}]}).encode())
