"""Sentences in rows are codes with parameters: each code has a sentence, each use gives the parameters it needs."""

from __future__ import annotations

import ast
import copy
import json
import pickle
from collections.abc import Iterator

import pytest

from chat.sentences import SENTENCES as CHAT
from tests import house
from tests.tables import every
from tests.words_on_pages import faults_of_text
from toolsupport.core import sentence_codes
from toolsupport.core.sentence_codes import Sentence, encoded, formatted, joined, mapped, needed
from toolsupport.core.sentences import SENTENCES, sentence

TABLES = {"chat": CHAT, "toolsupport": SENTENCES}
NAMES = ("sentence", "_question")


def uses() -> Iterator[tuple[str, ast.Call, str]]:
    """Each call that writes a sentence, with its application."""
    for source in house.sources("toolsupport", "chat"):
        table = "chat" if "from chat.sentences import" in source.text else "toolsupport"
        for call in (node for node in ast.walk(source.tree) if isinstance(node, ast.Call)):
            name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
            if name in NAMES and call.args and not source.path.endswith("sentence_codes.py"):
                yield source.path, call, table


def codes(node: ast.expr) -> list[str]:
    """The codes that an argument can be: a text, or one of the two of a condition."""
    if isinstance(node, ast.IfExp):
        return [*codes(node.body), *codes(node.orelse)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def test_every_use_names_a_code_and_gives_its_parameters() -> None:
    wrong, seen = [], set()
    for path, call, table in uses():
        for code in codes(call.args[0]):
            template = TABLES[table].templates.get(code)
            given = {keyword.arg for keyword in call.keywords}
            open_ended = None in given or any(isinstance(keyword.value, ast.Starred) for keyword in call.keywords)
            seen.add(code)
            if template is None or (given != needed(template) and not open_ended):
                wrong.append(f"{path}:{call.lineno} {code}")
    assert wrong == [] and len(seen) > 90


def test_every_code_is_used() -> None:
    written = "".join(
        source.text for source in house.sources("toolsupport", "chat") if "sentences.py" not in source.path
    )
    # Codes that are put together.
    made = ("step_", "verdict_", "tool_", "source_", "answered_nothing", "thought_and_nothing")
    unused = [code for code in CHAT.templates if f'"{code}"' not in written and not code.startswith(made)]
    assert unused == []


@every("code", sorted(CHAT.templates))
def test_a_sentence_has_no_identifier_and_is_read_back(code: str) -> None:
    template = CHAT.templates[code]
    facts = {name: _fact(template, name) for name in needed(template)}
    made = CHAT.sentence(code, **facts)
    read = CHAT.decoded(encoded(made))
    assert read == made == formatted(template, facts) and isinstance(read, Sentence)
    if code not in ("context_of_request", "imported"):  # a field of a request and the name of a file
        assert not list(faults_of_text(made)), made
    with pytest.raises(ValueError, match="needs"):
        CHAT.sentence(code, **facts, more=1)


def _fact(template: str, name: str) -> object:
    if any(f"{{{name}:{mark}}}" in template for mark in ("list", "codes")):
        return ["one", "two"]
    return 3 if any(f"{{{name}:{mark}" in template for mark in ("g", ",", ".0f")) else "words"


def test_a_row_holds_the_code_and_a_changed_wording_reaches_it() -> None:
    made = sentence("expired", until="3 Nov 2026")
    assert json.loads(encoded(made)) == {"code": "expired", "until": "3 Nov 2026"}
    later = sentence_codes.SentenceTable({"expired": "Set until {until}."})
    assert later.decoded(encoded(made)) == "Set until 3 Nov 2026."


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ("The override was set until 3 Nov 2026.", "The override was set until 3 Nov 2026."),
        ("", ""),
        ('{"code":"of_a_later_version","x":1}', "of a later version"),
        ('{"code":"expired"}', "expired"),
        ('{"code":', '{"code":'),
        ('{"code":3}', '{"code":3}'),
    ],
)
def test_old_and_strange_rows_are_shown(stored: str, text: str) -> None:
    assert SENTENCES.decoded(stored) == text


@pytest.mark.parametrize("text", ['{"code":"expired","until":"now"}', '{"code":', "Because.", '{"code": "x"}', ""])
def test_a_text_of_a_person_stays_as_it_was_written(text: str) -> None:
    assert SENTENCES.decoded(encoded(text)) == text
    assert not isinstance(SENTENCES.decoded(encoded(text)), Sentence)


def test_sentences_within_sentences() -> None:
    share = sentence("share", right=2, tried=3)
    both = joined(sentence("thinking_both", on=share, off="x"), "", "“foreign”")
    assert both == "With thinking on: 2 of 3, off: x. “foreign”"
    assert SENTENCES.decoded(encoded(both)) == both
    assert joined("", share) is share and joined("") == ""
    hidden = mapped(sentence("called_nothing", text="the key abc"), lambda text: text.replace("abc", "[secret]"))
    assert "abc" not in hidden + encoded(hidden) and SENTENCES.decoded(encoded(hidden)) == hidden


def test_a_sentence_is_copied_with_its_code() -> None:
    made = sentence("share", right=2, tried=3)
    for copied in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert copied == made and copied.stored == made.stored
    assert json.dumps({"why": made}) == '{"why": "2 of 3"}'
    assert SENTENCES.restored(sentence_codes.plain({"a": [made], "b": 1})) == {"a": ["2 of 3"], "b": 1}
