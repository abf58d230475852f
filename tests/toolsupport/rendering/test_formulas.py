"""Formulas become MathML; amounts of money, and formulas that cannot be read, stay text."""

from __future__ import annotations

import re

from toolsupport.rendering.messages import render

AMOUNTS = [
    "$5 and $10",
    "from $5 to US$10",
    "$5-$10",
    "costs $5, or 10$ today",
    "$HOME and $PATH",
    "$(this).x($y)",
    "a $ b $ c",
    "\\$5\\$",
    "`$x$`",
    "$",
    "$$",
    "$$$$",
    "20$ + 30$",
]
CONVERTED = {
    "$E=mc^2$": "<msup><mi>c</mi><mn>2</mn></msup>",
    "so $x$, then": "<mi>x</mi>",
    "$5 + 3$": "<mn>5</mn>",
    "\\(a_1\\)": "<msub>",
    "$$\\sum_{i=1}^n i$$": '<math display="block"><mrow><munderover>',
    "$$\na\n+ b\n- c\n= d\n$$": "<mi>d</mi>",
    "so\n\\[\n\\begin{aligned}a&=b\\\\c&=d\\end{aligned}\n\\]": '<mtd class="right"><mi>a</mi></mtd>',
    "- $a$": "<li><math>",
    "$\\boxed{42}$": '<mrow class="boxed">',
    "$a<b$": "<mo>&lt;</mo>",
    "$\\text{if }x$": "<mtext>if",
    "$\\mathrm{d}x$": '<mi mathvariant="normal">d</mi>',
}
KEPT = [
    "$\\unknown{x}$",
    "$\\frac{1}$",
    "$x^$",
    "$\\begin{matrix}$",
    f"${'{' * 100}$",
    f"${'x' * 2001}$",
    "$\\cancel{x}$",
]


def test_formulas_become_mathml_and_amounts_of_money_do_not() -> None:
    assert [text for text in AMOUNTS if "<math" in render(text)] == []
    assert {text: html for text, wanted in CONVERTED.items() if wanted not in (html := render(text))} == {}


def test_a_formula_that_cannot_be_converted_is_shown_as_it_was_written() -> None:
    shown = {text: "".join(re.findall("<code>(.*?)</code>", render(text))) or render(text) for text in KEPT}
    assert {text: html for text, html in shown.items() if text not in html or "<math" in html} == {}
