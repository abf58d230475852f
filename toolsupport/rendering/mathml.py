"""Converts a formula in LaTeX to MathML of a closed list of elements and attributes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from html import escape, unescape
from xml.etree.ElementTree import Element

from toolsupport.work_pool.cpu_time_limit import CpuBudget, Interrupted

LONGEST_FORMULA, SECONDS, DEEPEST = 2_000, 0.05, 60
# How many children these have: with another number a browser shows an error.
PARTS = {"mfrac": 2, "msup": 2, "msub": 2, "mroot": 2, "mover": 2, "munder": 2, "msubsup": 3, "munderover": 3}
TOKENS = frozenset(("mi", "mn", "mo", "mtext", "mspace"))
GROUPS = frozenset(("mrow", "msqrt", "mstyle", "mphantom", "mtable", "mtr", "mtd"))
ELEMENTS = frozenset(("math", *PARTS, *TOKENS, *GROUPS))
FLAGS = frozenset(("true", "false"))
SIZES = frozenset(("1.2em", "1.623em", "1.8em", "2.047em", "2.4em", "2.470em", "3em"))
ATTRIBUTES: dict[str, dict[str, frozenset[str]]] = {
    "math": {"display": frozenset(("block",))},
    "mi": {"mathvariant": frozenset(("normal",))},
    "mo": {
        **{name: FLAGS for name in ("stretchy", "fence", "accent", "movablelimits")},
        "form": frozenset(("prefix", "infix", "postfix")),
        "minsize": SIZES,
        "maxsize": SIZES,
    },
    "mspace": {"width": frozenset(("0.167em", "0.222em", "0.278em", "0.333em", "1em", "2em", "-0.167em"))},
    "mfrac": {"linethickness": frozenset(("0",))},
    "mover": {"accent": FLAGS},
    "munder": {"accentunder": FLAGS},
    "mstyle": {"displaystyle": FLAGS, "scriptlevel": frozenset(("0", "1", "2"))},
    "mtable": {"displaystyle": FLAGS},
}
CLASSES = {"mrow": {"boxed"}, "mtd": {"left", "right"}}
# Environments that the library does not know, as those that it shows alike.
SAME = {"aligned": "align*", "gathered": "matrix", "gather": "matrix", "gather*": "matrix", "equation*": "equation"}
ENVIRONMENT = re.compile(r"\\(begin|end)\{([a-z]+\*?)\}")
# Definitions could make a short text long; the rest reaches outside a formula.
REFUSED = re.compile(r"\\(?:newcommand|renewcommand|def|let|href|url|class|style|cssId|require|includegraphics)\b")
# The library writes an upright letter as a reference to a plain one, any other letter as itself.
UPRIGHT = re.compile(r"&#x000[0-7][0-9A-F];\Z")
SPACE = '<mspace width="0.167em"></mspace>'


class NotConverted(Exception):
    """The formula is shown as it was written."""


def convert(source: str, block: bool) -> str:
    """Return the MathML of a formula. Raises NotConverted."""
    if len(source) > LONGEST_FORMULA or REFUSED.search(source) or _depth(source) > DEEPEST:
        raise NotConverted
    # Loaded with the first formula: most workers see none. It takes longer than a formula may.
    from latex2mathml.converter import Converter

    known = ENVIRONMENT.sub(lambda match: f"\\{match[1]}{{{SAME.get(match[2], match[2])}}}", source)
    try:
        with CpuBudget(SECONDS):
            tree = Converter(display="block" if block else "inline").convert_to_element(known)
            return "".join(_written(tree))
    except Interrupted as error:
        raise NotConverted from error
    except Exception as error:
        # Of the library: it raises many kinds for what it cannot read.
        raise NotConverted from error


def _depth(source: str) -> int:
    deepest = depth = 0
    for character in source:
        depth += (character == "{") - (character == "}")
        deepest = max(deepest, depth)
    return max(deepest, source.count("\\left"), source.count("\\begin"), source.count("\\sqrt"))


def _written(element: Element) -> Iterator[str]:
    tag, text = element.tag, unescape(unescape(element.text or ""))
    if tag == "menclose" and element.get("notation") == "box":
        tag, element.attrib = "mrow", {"class": "boxed"}
    if tag == "mpadded":
        tag = "mrow"
    if tag in TOKENS:
        tag = _token(tag, text)
    if tag not in ELEMENTS or PARTS.get(tag, len(element)) != len(element) or (text.strip() and tag not in TOKENS):
        raise NotConverted
    if tag == "mi" and UPRIGHT.match(element.text or ""):
        element.set("mathvariant", "normal")
    yield f"<{tag}{_attributes(tag, element)}>{escape(text)}"
    for child in element:
        yield from _written(child)
        if child.tag == "mi" and (child.text or "").isalpha() and len(child.text or "") > 1:
            # The name of a function.
            yield SPACE if tag in GROUPS else ""
    yield f"</{tag}>"


def _token(tag: str, text: str) -> str:
    """Return the element for this text, which the library chooses wrongly for some signs."""
    if text.startswith("\\") or (text == "&" and tag != "mtext"):
        raise NotConverted
    if text == "∞":
        return "mi"
    return "mo" if tag == "mi" and len(text) == 1 and unicodedata.category(text) == "Sm" else tag


def _attributes(tag: str, element: Element) -> str:
    allowed = ATTRIBUTES.get(tag, {})
    kept = [(name, value) for name, value in element.items() if value in allowed.get(name, ())]
    side = element.get("columnalign") if tag == "mtd" else element.get("class")
    if side in CLASSES.get(tag, ()):
        kept.append(("class", str(side)))
    return "".join(f' {name}="{value}"' for name, value in kept)
