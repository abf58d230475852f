"""Reads the project's own files so that its rules can be checked by machine."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("toolsupport", "chat", "manage.py")
EVERYTHING = (*PRODUCT, "tests")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One file of Python: `path` is relative to the root, with forward slashes."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @cached_property
    def docstring(self) -> str:
        return ast.get_docstring(self.tree) or ""

    @cached_property
    def functions(self) -> list[Function]:
        return [node for node in nodes(self.tree) if isinstance(node, Function)]

    @property
    def stem(self) -> str:
        return Path(self.path).stem

    def at(self, node: ast.AST, what: str) -> str:
        return f"{self.path}:{getattr(node, 'lineno', 1)} {what}"

    def within(self, *places: str) -> bool:
        """True where this file is one of `places`, or lies in one of them."""
        return any(self.path == place or self.path.startswith(f"{place}/") for place in places)


@lru_cache(maxsize=2)
def nodes(tree: ast.AST) -> list[ast.AST]:
    """Every node of a tree; kept, since each rule looks through the same file."""
    return list(ast.walk(tree))


def files(pattern: str, *roots: str) -> list[Path]:
    """All files of that pattern in the roots that exist; caches and migrations are left out."""
    skipped = {"__pycache__", "migrations", "node_modules"}
    found: list[Path] = []
    for root in (ROOT / name for name in roots):
        found += [root] if root.is_file() else sorted(root.rglob(pattern))
    return [path for path in found if path.is_file() and not skipped & set(path.parts)]


def sources(*roots: str) -> Iterator[Source]:
    """Every Python file in the roots, one after the other, parsed when asked."""
    for path in files("*.py", *roots):
        yield Source(path.relative_to(ROOT).as_posix(), path.read_text())


def project() -> dict[str, Any]:
    """pyproject.toml as data."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def length(node: Function) -> int:
    """Lines from `def` to the end, decorators not counted."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def parameters(node: Function) -> int:
    """How many parameters a caller may give; self and cls are not counted, stars are."""
    given = node.args
    names = [argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    names += [star.arg for star in (given.vararg, given.kwarg) if star]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def complexity(node: Function) -> int:
    """McCabe's number as ruff counts it: one, plus one for each place where the way may part."""
    forks = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case)
    return 1 + sum(isinstance(part, forks) for part in ast.walk(node))


def calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """Every call with the last part of the called name: `asyncio.create_task(x)` gives `create_task`."""
    for node in nodes(tree):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            yield node, name


def imports(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Every imported module in full: `from a.b import c` gives `a.b.c`."""
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            yield from ((node, f"{node.module or '.'}.{alias.name}") for alias in node.names)


def decorators(node: Function) -> set[str]:
    """The last names of a function's decorators."""
    called = [item.func if isinstance(item, ast.Call) else item for item in node.decorator_list]
    return {item.attr if isinstance(item, ast.Attribute) else getattr(item, "id", "") for item in called}


def first_sentence_alone(text: str) -> bool:
    """True where the first paragraph is exactly one sentence."""
    paragraph = " ".join(text.split("\n\n")[0].split())
    return bool(paragraph) and paragraph.endswith(".") and not re.search(r"[.!?]\s+[A-Z`]", paragraph)
