"""Evaluates the arithmetic in a sentence."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

# Dates and times of day have the same signs as sums.
MOMENT = re.compile(r"(?<!\d)(?:\d{4}-\d{2}-\d{2}|(?:[01]\d|2[0-3]):[0-5]\d)(?!\d)")
SPOKEN = (
    (r"(?<=[\d)])\s*(?:times|multiplied by|[x×·])\s*(?=[\d(-])", "*"),
    (r"(?<=[\d)])\s*(?:divided by|[÷:])\s*(?=[\d(-])", "/"),
    (r"(?<=[\d)])\s*plus\s*(?=[\d(-])", "+"),
    (r"(?<=[\d)])\s*(?:minus|[–−])\s*(?=[\d(-])", "-"),
    (r"(?<=[\d)])\s*(?:\^|to the power of)\s*(?=[\d(-])", "**"),
    (r"(?<=\d),(?=\d{3}\b)", ""),
)
EXPRESSION = re.compile(
    r"(?<![\w.])(?<![\w.]-)[-(]*\d[\d.]*\)*(?:\s*(?:\*\*|//|[-+*/%])\s*[-(]*\d[\d.]*\)*)+(?![\w.]*\w)(?!-[\w.]*[A-Za-z])"
)
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
LONGEST = 200
LARGEST_POWER = 64
DIGITS = 15


def normal(text: str) -> str:
    """Return the text with Python's operators in place of spoken and printed ones, without dates and times."""
    text = MOMENT.sub(" ", text)
    for pattern, sign in SPOKEN:
        text = re.sub(pattern, sign, text, flags=re.IGNORECASE)
    return text


def expression(text: str) -> str:
    """Return the arithmetic in a text; "" if there is none."""
    match = EXPRESSION.search(normal(text))
    found = re.sub(r"\s+", "", match.group()) if match else ""
    # The match may include a bracket of the sentence.
    surplus = found.count("(") - found.count(")")
    return found.lstrip("(") if surplus > 0 else found


def work_out(text: str) -> str:
    """Evaluate an expression. Raises ValueError with a message if it has no value."""
    if len(text) > LONGEST:
        raise ValueError("that is too long for me")
    try:
        value = _value(ast.parse(text, mode="eval").body)
    except ZeroDivisionError:
        raise ValueError("nothing can be divided by zero") from None
    except (SyntaxError, OverflowError, RecursionError, MemoryError):
        raise ValueError("I cannot read it as arithmetic") from None
    return str(value) if isinstance(value, int) else f"{value:.{DIGITS}g}"


def _value(node: ast.AST) -> Any:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.operand))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return _power(_value(node.left), _value(node.right))
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError("I cannot read it as arithmetic")


def _power(number: Any, exponent: Any) -> Any:
    if abs(exponent) > LARGEST_POWER or abs(number) > 10**DIGITS:
        raise ValueError("that is too large for me")
    value = number**exponent
    if isinstance(value, complex):
        raise ValueError("that has no real value")
    return value
