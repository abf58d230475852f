"""The hard rules of the house for what a browser gets: templates, scripts, style sheets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import house
from tests.tables import every

SCRIPT_LINES, STYLE_BYTES = 120, 65_000  # decision 25
LINE = 160

# What the content security policy would refuse, or what would open a way around it.
FORBIDDEN = {
    "an inline script": re.compile(r"<script(?![^>]*\bsrc=)[^>]*>", re.I),
    "an inline style": re.compile(r"<style\b|\sstyle\s*=", re.I),
    "an htmx event attribute": re.compile(r"\b(?:data-)?hx-on\b", re.I),
    "an event attribute": re.compile(r"<[a-z][^>]*\son[a-z]+\s*=", re.I),
    "a script address": re.compile(r"javascript:", re.I),
    "text that is not escaped": re.compile(r"\|\s*safe\b|autoescape\s+off|\|\s*safeseq\b"),
}
SINS = {
    "an inline script": "<script>go()</script>",
    "an inline style": '<p style="color:red">',
    "an htmx event attribute": '<p hx-on:click="go()">',
    "an event attribute": '<a href="/" onclick="go()">',
    "a script address": '<a href="javascript:go()">',
    "text that is not escaped": "{{ text|safe }}",
}
# Numbers of tokens are large: people read them with commas.
PLAIN_TOKENS = re.compile(r"{{ [\w.]+ }}(?: of {{ [\w.|]+ }})? token(?!s/s)|{{ [\w.|]+ }} of {{ [\w.]+ }} token(?!s/s)")
UNSAFE_SCRIPT = re.compile(r"\beval\(|new Function\(|document\.write\(|setTimeout\(\s*[\"'`]")

TEMPLATES = house.files("*.html", "templates", "toolsupport", "chat")
SCRIPTS = [path for path in house.files("*.js", "static") if "vendor" not in path.parts]
STYLES = [path for path in house.files("*.css", "static") if "vendor" not in path.parts]


def long_lines(path: Path) -> list[str]:
    lines = enumerate(path.read_text().splitlines(), 1)
    return [f"{name(path)}:{number} has {len(line)} characters" for number, line in lines if len(line) > LINE]


def broken(text: str) -> list[str]:
    return [name for name, sign in FORBIDDEN.items() if sign.search(text)]


def name(path: Path) -> str:
    return path.relative_to(house.ROOT).as_posix()


@pytest.mark.parametrize("sin", SINS)
def test_a_planted_sin_is_found(sin: str) -> None:
    assert broken(SINS[sin]) == [sin]


def test_a_script_from_a_file_is_no_sin() -> None:
    assert broken('<script type="module" src="/static/js/theme.js" defer></script>') == []


def test_lines_are_short() -> None:
    """In a template a break stands between attributes or at white space that is there: it is invisible then."""
    assert [line for path in (*TEMPLATES, *STYLES, *SCRIPTS) for line in long_lines(path)] == []


def test_a_long_line_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house, "ROOT", tmp_path)
    (tmp_path / "page.html").write_text(f"<p>\n{'x' * (LINE + 1)}\n</p>\n")
    assert long_lines(tmp_path / "page.html") == [f"page.html:2 has {LINE + 1} characters"]


@every("path", TEMPLATES)
def test_templates_hold_nothing_that_the_policy_refuses(path: Path) -> None:
    assert broken(path.read_text()) == []


@every("path", SCRIPTS)
def test_a_script_is_one_behaviour(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= SCRIPT_LINES
    assert not UNSAFE_SCRIPT.search(text)
    assert text.lstrip().startswith(("//", "/*")), "its first line says what it is for"


TOKEN = "{% csrf_token %}"
ALONE = re.compile(r'{%\s*include\s+"([^"#]+)(?:#(\w+))?"[^%]*\bonly\s*%}')
# Its form is for the pages that name an address to go back to; the picker of models includes it without one.
WITHOUT_FORM = {"templates/chat/models.html: parts/down_servers.html"}


def forms_without_token(path: Path) -> list[str]:
    """The parts that this template includes with `only` although they have a form: its token stays behind."""
    name, found = path.relative_to(house.ROOT), []
    for included, partial in ALONE.findall(path.read_text()):
        text = (house.ROOT / "templates" / included).read_text()
        part = text.partition(f"{{% partialdef {partial}")[2].partition("{% endpartialdef %}")[0] if partial else text
        if TOKEN in part:
            found.append(f"{name}: {included}")
    return found


@every("path", TEMPLATES)
def test_a_form_in_a_part_gets_its_token(path: Path) -> None:
    assert set(forms_without_token(path)) <= WITHOUT_FORM


def test_a_form_without_its_token_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house, "ROOT", tmp_path)
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates/part.html").write_text("{% partialdef a %}<p>{% endpartialdef %}{% partialdef b %}" + TOKEN)
    page = tmp_path / "templates/page.html"
    page.write_text(
        '{% include "part.html#a" only %}{% include "part.html#b" with x=y only %}{% include "part.html" %}'
    )
    assert forms_without_token(page) == ["templates/page.html: part.html"]


def test_styles_stay_small() -> None:
    sizes = {name(path): len(path.read_bytes()) for path in STYLES}
    assert sum(sizes.values()) <= STYLE_BYTES, sizes


@every("path", STYLES)
def test_styles_fetch_nothing_from_elsewhere(path: Path) -> None:
    assert not re.search(r"@import|url\(\s*[\"']?(?:https?:)?//", path.read_text())


def test_numbers_of_tokens_have_commas() -> None:
    assert PLAIN_TOKENS.search("{{ used }} tokens") and PLAIN_TOKENS.search(
        "{{ used|thousands }} of {{ limit }} tokens"
    )
    found = {name(path): PLAIN_TOKENS.findall(path.read_text()) for path in TEMPLATES}
    assert {path: plain for path, plain in found.items() if plain} == {}
