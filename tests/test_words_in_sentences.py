"""No sentence that the code holds has an identifier or a word that pages do not use (tests/words_on_pages.py)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests import house
from tests.words_on_pages import faults_of_text

# What stands in braces of a template is a name of a parameter, which is replaced.
PARAMETER = re.compile(r"\{[^{}]*\}")
# A text of the product that people read: it begins like a sentence and ends like one.
SENTENCE = re.compile(r"[A-Z“{…][^\n]* [^\n]*[.?!:…]\W?", re.DOTALL)


def texts(source: house.Source) -> Iterator[str]:
    """Each text of a file, f-strings whole, with a mark where a value is put in; docstrings are left out."""
    left_out = {id(node.value) for node in ast.walk(source.tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.JoinedStr):
            left_out |= {id(part) for part in node.values}
            yield "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)  # type: ignore[misc]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            yield node.value
