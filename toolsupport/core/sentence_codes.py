"""Represents sentences that rows store as a code with parameters.

A `Sentence` is a `str`: pages and APIs use it as any other text. `stored` is its JSON form in rows, from which the
application's table of sentences makes the text, so that a changed wording also reaches old rows.
"""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolsupport.core.types import JSON

CODE = "code"
JOINED = "joined"  # several sentences, in `parts`
WRITTEN = "as_written"  # a text of a person or a server that looks like a stored sentence
BEGINNING = '{"code":'
QUOTED = 160  # characters


class Sentence(str):
    """A text with its code and its parameters."""

    __slots__ = ("stored",)
    stored: JSON

    def __new__(cls, text: str, stored: JSON) -> Sentence:
        made = super().__new__(cls, text)
        made.stored = stored
        return made

    def __reduce__(self) -> tuple[type[Sentence], tuple[str, JSON]]:
        return Sentence, (str(self), self.stored)


class SentenceTable:
    """The sentences of one application by code, as templates of `str.format`; `beside` are those of another one.

    Besides the usual format specifications there are `quoted` (the beginning of a text in quotation marks), `bare` (a
    sentence without its full stop), `list` and `codes` (several texts or codes).
    """

    def __init__(self, templates: Mapping[str, str], beside: SentenceTable | None = None) -> None:
        self.templates: Mapping[str, str] = {**(beside.templates if beside else {}), **templates}

    def sentence(self, code: str, **facts: Any) -> Sentence:
        """Write a sentence. Raises KeyError for an unknown code, ValueError for other parameters than it needs."""
        template = self.templates[code]
        if needed(template) != facts.keys():
            raise ValueError(f"the sentence {code!r} needs {sorted(needed(template))}, not {sorted(facts)}")
        return Sentence(formatted(template, facts), {CODE: code} | {name: plain(fact) for name, fact in facts.items()})

    def read(self, stored: Any) -> str:
        """Return the text of a stored value; one of an unknown code, as of a later version, shows the code."""
        if not _is_stored(stored):
            return str(stored)
        code, facts = stored[CODE], {name: self.restored(value) for name, value in stored.items() if name != CODE}
        if code == JOINED:
            return Sentence(" ".join(map(str, facts.get("parts", ()))), stored)
        if code == WRITTEN:
            return str(facts.get("text", ""))
        template = self.templates.get(code)
        if template is None or not needed(template) <= facts.keys():
            return Sentence(str(code).replace("_", " "), stored)
        return Sentence(formatted(template, facts), stored)

    def restored(self, value: Any) -> Any:
        """Return a JSON value with the stored sentences in it as texts."""
        if _is_stored(value):
            return self.read(value)
        if isinstance(value, dict):
            return {name: self.restored(inner) for name, inner in value.items()}
        return [self.restored(inner) for inner in value] if isinstance(value, list) else value

    def decoded(self, column: str) -> str:
        """Return the text of a text column: a stored sentence, or the text itself."""
        if not column.startswith(BEGINNING):
            return column
        try:
            stored = json.loads(column)
        except ValueError:
            return column
        return self.read(stored) if _is_stored(stored) else column


def encoded(text: str) -> str:
    """Return the form of a text in a text column: the JSON of a sentence, other texts unchanged."""
    if isinstance(text, Sentence):
        return _dumped(text.stored)
    return _dumped({CODE: WRITTEN, "text": text}) if text.startswith(BEGINNING) else text


def plain(value: Any) -> Any:
    """Return a JSON value with the sentences in it in their stored form."""
    if isinstance(value, Sentence):
        return value.stored
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def joined(*texts: str) -> str:
    """Return several texts as one, with a space between them; empty ones are left out."""
    parts = [text for text in texts if text]
    if len(parts) < 2:
        return parts[0] if parts else ""
    return Sentence(" ".join(parts), {CODE: JOINED, "parts": [plain(part) for part in parts]})


def mapped(text: str, change: Callable[[str], str]) -> str:
    """Apply `change` to a text; of a sentence, to the text and to the texts among its parameters."""
    return Sentence(change(text), _changed(text.stored, change)) if isinstance(text, Sentence) else change(text)


def formatted(template: str, facts: Mapping[str, Any]) -> str:
    """Return a template with its parameters. Raises KeyError for a missing one."""
    return _FORMATTER.vformat(template, (), facts)


def needed(template: str) -> set[str]:
    """Return the names of the parameters of a template."""
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def _changed(stored: Any, change: Callable[[str], str]) -> Any:
    if isinstance(stored, dict):
        return {name: inner if name == CODE else _changed(inner, change) for name, inner in stored.items()}
    if isinstance(stored, list):
        return [_changed(inner, change) for inner in stored]
    return change(stored) if isinstance(stored, str) else stored


def _is_stored(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get(CODE), str)


def _dumped(stored: JSON) -> str:
    return json.dumps({CODE: stored[CODE]} | stored, ensure_ascii=False, separators=(",", ":"))


def quoted(text: str) -> str:
    """Return the beginning of a text, on one line."""
    line = " ".join(text.split())
    return f"“{line[:QUOTED]}{'…' if len(line) > QUOTED else ''}”" if line else "nothing"


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(map(str, values))


SPECIFICATIONS: Mapping[str, Callable[[Any], str]] = {
    "quoted": lambda value: quoted(str(value)),
    "bare": lambda value: str(value).rstrip("."),
    "list": _listed,
    "codes": lambda values: _listed(str(value).replace("_", " ") for value in values),
}


class _SentenceFormatter(string.Formatter):
    """`str.format` with the specifications of sentences."""

    def format_field(self, value: Any, format_spec: str) -> str:
        special = SPECIFICATIONS.get(format_spec)
        return special(value) if special else str(super().format_field(value, format_spec))


_FORMATTER = _SentenceFormatter()
