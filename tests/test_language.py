"""Docs, log lines, docstrings and names are plain English, without personified programs and old words."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import house
from toolsupport.core.sentences import SENTENCES

WORDS = ["said", "told", "tells", "says", "knows", "hears", "heard", "whoever", "somebody", "nobody", "anew"]
WORDS += ["what became of", "lest", "wherefore"]
# Translated turns of phrase: "continues", "inside", "must be", "automatically", "for lack of", "withdrawn".
WORDS += ["goes on", "inside of", "has to be", "have to be", "by themselves", "for want of", "in vain", "there where"]
WORDS += ["broke off", "breaks off", "takes back", "of its own accord"]
BANNED = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)
# In docstrings and comments of the code, besides: programs neither speak nor wish, and have no household.
SPEECH = ["tell", "telling", "say", "saying", "hear", "hearing", "speaks", "spoke", "spoken of", "believes", "swears"]
ARCHAIC = [
    "wish",
    "wishes",
    "thereof",
    "upon",
    "kindly",
    "came of",
    "comes to",
    "is at home",
    "looks on",
    "stands here",
]
METAPHORS = ["doorman", "clerk", "corridor", "household", "laboratory", "briefing", "front door", "fell into", "beats"]
IN_CODE = re.compile(rf"\b(?:{'|'.join([*WORDS, *SPEECH, *ARCHAIC, *METAPHORS])})\b", re.IGNORECASE)
# Real uses: quoted texts, and what a server claims about itself, which the interface quotes as "The server says …".
ALLOWED = ('like "the file says:"', "The server says", "The family table says", "may have to be")
# Code is quoted as it is: `nobody` is a user of the system.
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
# Names that were replaced by the usual ones: writer, revocation, runner, executor, preferences.
RETIRED = {"clerk", "doorman", "lab", "hands", "ear", "wishes", "desk"}
RETIRED_NAME = re.compile(rf"\b_*(?:{'|'.join(sorted(RETIRED))})_*\b")
LOGGERS = {"log", "logger"}
LEVELS = {"debug", "info", "warning", "error", "exception", "critical"}


# Where one text of the code is cut into two literals.
SEAM = re.compile(r"""["']\s*[rf]*["']""")


def suspects(pattern: re.Pattern[str]) -> Iterator[house.Source]:
    """The files that hold such a word somewhere: only those are parsed, which takes long."""
    files = house.sources("toolsupport", "chat")
    return (source for source in files if pattern.search(SEAM.sub("", source.text)))


def bare(text: str) -> str:
    """The text without code and allowed phrases; lines stay where they are."""
    for phrase in ALLOWED:
        text = text.replace(phrase, "")
    return CODE.sub(lambda found: "\n" * found.group().count("\n"), text)


def banned(text: str, pattern: re.Pattern[str] = BANNED) -> Iterator[str]:
    for number, line in enumerate(bare(text).splitlines(), 1):
        yield from (f"{number}: {found.group()} in {line.strip()[:90]}" for found in pattern.finditer(line))


def explanations(source: house.Source) -> Iterator[str]:
    """The docstrings and comments of a file."""
    nodes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    yield from (ast.get_docstring(node) or "" for node in ast.walk(source.tree) if isinstance(node, nodes))
    tokens = tokenize.generate_tokens(io.StringIO(source.text).readline)
    yield from (token.string for token in tokens if token.type == tokenize.COMMENT)


# Rules of simulated models, patterns, words for models, and help of columns, which only a migration changes.
NOT_FOR_PEOPLE = (
    "simulator/",
    "core/formats/",
    "core/prompt/",
    "core/refusal",
    "core/unquoted_text",
    "migrations/",
    "models",
)
VERBS = "List Start Run Check Measure Write Take Remove Lock"


def strings(source: house.Source) -> Iterator[str]:
    """The texts in code with at least three words: errors, notices, help of commands."""
    explained = {id(node.value) for node in ast.walk(source.tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(source.tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in explained else None
        if isinstance(text, str) and len(text.split()) >= 3:
            yield text


def targets() -> list[str]:
    """The help of each target of make."""
    return re.findall(r"^[a-z-]+:.*## (.+)$", (house.ROOT / "Makefile").read_text(), re.MULTILINE)


def log_lines(tree: ast.AST) -> Iterator[str]:
    """The texts that are written to a log."""
    for call, name in house.calls(tree):
        owner = ast.unparse(call.func).rpartition(".")[0]
        if name in LEVELS and owner in LOGGERS:
            yield from (
                part.value for part in call.args if isinstance(part, ast.Constant) and isinstance(part.value, str)
            )


def pages() -> list[str]:
    found = [*house.ROOT.glob("docs/**/*.md"), house.ROOT / "CONTRIBUTING.md", house.ROOT / "README.md"]
    return sorted(str(page.relative_to(house.ROOT)) for page in found)


def test_no_page_holds_the_marks_of_an_unfinished_merge() -> None:
    marks = re.compile(r"^(?:<{7} |={7}$|>{7} )", re.MULTILINE)
    assert [page for page in [*pages(), "CHANGELOG.md"] if marks.search((house.ROOT / page).read_text())] == []


def test_docs_are_plain_english() -> None:
    found = {page: list(banned((house.ROOT / page).read_text())) for page in pages()}
    assert {page: lines for page, lines in found.items() if lines} == {}


def test_docs_call_a_chat_a_chat() -> None:
    # The class and the field of the API have the other name: both are code.
    other = re.compile(r"(?<!\")\bconversations?\b(?!\")", re.IGNORECASE)
    found = {page: list(banned((house.ROOT / page).read_text(), other)) for page in pages()}
    assert {page: lines for page, lines in found.items() if lines} == {}


def test_log_lines_and_module_heads_are_plain_english() -> None:
    texts = {source.path: [source.docstring, *log_lines(source.tree)] for source in suspects(BANNED)}
    found = {path: [line for text in written for line in banned(text)] for path, written in texts.items()}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_errors_notices_and_help_are_plain_english() -> None:
    files = [one for one in suspects(BANNED) if not any(part in one.path for part in NOT_FOR_PEOPLE)]
    found = {source.path: [line for text in strings(source) for line in banned(text)] for source in files}
    assert {path: lines for path, lines in found.items() if lines} == {}


COUNTED = re.compile(
    r"\{len\([a-z_.]+\)\} (?:models|servers|tools|tests|cases|chats|values|entries|migrations|days|others)\b"
)
# A heading names its subject; only the first visit asks "What can your models really do?".
ASKING = re.compile(r"<(h[1-6]|legend|caption)\b[^>]*>\s*What\b")


def test_headings_of_pages_name_their_subject() -> None:
    templates = {str(path.relative_to(house.ROOT)): path.read_text() for path in house.ROOT.glob("templates/**/*.html")}
    assert [path for path, text in templates.items() if ASKING.search(text)] == ["templates/chat/start.html"]
    titles = [text for code, text in SENTENCES.templates.items() if code.startswith("step_")]
    assert titles and [title for title in titles if title.startswith("What ")] == []


def test_a_count_agrees_with_its_noun() -> None:
    """`counted` writes "1 model" and "2 models"; an f-string with a length and a plural writes "1 models"."""
    files = [one for one in house.sources("toolsupport", "chat") if not any(p in one.path for p in NOT_FOR_PEOPLE)]
    found = {f"{one.path}: {line.strip()}" for one in files for line in one.text.splitlines() if COUNTED.search(line)}
    assert {line for line in found if " if len(" not in line} == set()


def test_targets_of_make_begin_with_a_verb() -> None:
    written = targets()
    assert len(written) > 10 and [line for line in written if list(banned(line))] == []
    assert {line.split()[0] for line in written} <= set(VERBS.split())


def test_docstrings_and_comments_are_plain_english() -> None:
    found = {
        source.path: [line for text in explanations(source) for line in banned(text, IN_CODE)]
        for source in suspects(IN_CODE)
    }
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "text",
    [
        "The model is told the reason.",
        "Whoever asks",
        "what\nnobody reads",
        "What became of the call",
        "It is made anew.",
    ],
)
def test_an_odd_sentence_is_found(text: str) -> None:
    assert list(banned(text))


@pytest.mark.parametrize(
    "text", ["the user `nobody`", 'behind words like "the file says:"', "the lowest bid", "to tell"]
)
def test_a_real_use_is_left(text: str) -> None:
    assert list(banned(text)) == []


def test_names_are_the_usual_ones() -> None:
    found = {
        f"{source.path}: {name}"
        for source in suspects(RETIRED_NAME)
        for node in ast.walk(source.tree)
        for name in (
            getattr(node, "id", ""),
            getattr(node, "attr", ""),
            getattr(node, "arg", ""),
            getattr(node, "name", ""),
        )
        if str(name).strip("_") in RETIRED
    }
    assert found == set()


def test_a_text_in_two_literals_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house, "ROOT", tmp_path)
    (tmp_path / "chat").mkdir()
    (tmp_path / "chat/a.py").write_text('words = ("the model goes "\n    f"on {here}")\n')
    (tmp_path / "chat/b.py").write_text('words = "the model continues"\n')
    assert [source.path for source in suspects(BANNED)] == ["chat/a.py"]


def test_docstrings_and_comments_are_found() -> None:
    source = house.Source("a.py", '"""Heads."""\n\ndef f():\n    """Tells it."""  # Nobody hears it.\n')
    assert list(explanations(source)) == ["Heads.", "Tells it.", "# Nobody hears it."]


def test_a_log_line_is_found() -> None:
    tree = ast.parse('log.error("nobody heard %s", name)\nself.log("nobody")')
    assert list(log_lines(tree)) == ["nobody heard %s"]
