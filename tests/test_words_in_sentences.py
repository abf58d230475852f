"""No sentence in the code has an identifier or a word that pages do not use (tests/words_on_pages.py)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests import house
from tests.test_language import NOT_FOR_PEOPLE
from tests.words_on_pages import faults_of_text

# What stands in braces of a template is the name of a parameter, in whose place a value is put.
PARAMETER = re.compile(r"\{[^{}]*\}")
# A text that begins like a sentence and ends like one.
SENTENCE = re.compile(r"[A-Z“…][^\n]* [^\n]*[.?!:…]", re.DOTALL)


def texts(source: house.Source) -> Iterator[str]:
    """Each text of a file, f-strings whole, with a mark where a value is put in; docstrings are left out."""
    nodes = list(ast.walk(source.tree))
    left_out = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            left_out |= {id(part) for part in node.values}
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            yield node.value


# Besides what tests/test_language.py leaves out: texts that models read, cases of exams, and SQL.
SQL = re.compile(r"(?:SELECT|INSERT|UPDATE|DELETE|PRAGMA|WITH) [\w*]")
FOR_MODELS = ("chat/tools/", "detection/probe_prompts", "core/exams/builtin/")
OF_SENTENCES = (
    "sentences.py",
    "error_codes.py",
    "call_phrases.py",
    "capability_reasons.py",
    "server_faults.py",
    "verdicts.py",
)


def written(source: house.Source) -> Iterator[str]:
    """The texts of a file that people read: of a file of sentences all with two words, of others the sentences."""
    for text in texts(source):
        plain = PARAMETER.sub("…", text).strip()
        if " " in plain and not SQL.match(plain) and (source.path.endswith(OF_SENTENCES) or SENTENCE.fullmatch(plain)):
            yield plain


def files() -> list[house.Source]:
    left_out = (*NOT_FOR_PEOPLE, *FOR_MODELS)
    return [one for one in house.sources("toolsupport", "chat") if not any(part in one.path for part in left_out)]


def faults(source: house.Source) -> list[str]:
    return [fault for text in written(source) for fault in faults_of_text(text)]


def test_no_sentence_of_the_code_has_an_identifier() -> None:
    found = {source.path: faults(source) for source in files()}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_each_file_of_sentences_is_read() -> None:
    read = {source.path: len(list(written(source))) for source in files()}
    for path in sorted(house.ROOT.rglob("*/*sentences.py")):
        name = str(path.relative_to(house.ROOT))
        if name.startswith(("toolsupport/", "chat/")) and "migrations" not in name and "refusal" not in name:
            assert read[name] > 3, name


# An identifier in a sentence of any shape is found; in backquotes, as a parameter or in a key it is none.
@pytest.mark.parametrize(
    ("path", "code", "found"),
    [
        ("chat/sentences.py", 'X = {"a_b": "calls {tool} as auto_detected"}', ["auto_detected"]),
        ("toolsupport/web/pages/x.py", 'say(f"The limit mcp_limit holds for {name}.")', ["mcp_limit"]),
        ("toolsupport/web/pages/x.py", 'say("The value is declared.")', ["declared"]),
        ("toolsupport/web/pages/x.py", 'say(f"Level A1 of {name}: {other}.")', ["A1"]),
        ("toolsupport/web/pages/x.py", 'say("Use `num_ctx` for {with_tools} tools.")', []),
        ("toolsupport/web/pages/x.py", 'FIELD = "auto_detected"\nSQL = "SELECT a_b FROM c_d"', []),
        ("toolsupport/web/pages/x.py", '"""The field a_b is read."""', []),
    ],
)
def test_a_planted_identifier_is_found(path: str, code: str, found: list[str]) -> None:
    assert list(dict.fromkeys(fault.partition(":")[0] for fault in faults(house.Source(path, code)))) == found
