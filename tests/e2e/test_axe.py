"""What axe finds in a page, and what it looks at again: measuring less must not hide a fault."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext

from tests.e2e.test_access_for_all import PASSED, faults_at_each_width, violations

pytestmark = pytest.mark.e2e
Open = Callable[..., BrowserContext]


def test_axe_would_find_something(open_browser: Open) -> None:
    page = open_browser().new_page()
    page.goto("/servers/")
    page.evaluate("document.querySelector('h1').insertAdjacentHTML('afterend', '<img><button></button>')")
    page.evaluate("document.querySelector('h1').style.color = 'light-dark(black, #222)'")
    found = {text.split(":")[0] for text in violations(page)}
    assert found >= {"image-alt, light", "button-name, light", "color-contrast, dark"}
    assert "color-contrast, light" not in found
    # Rows of one structure are not all looked at: one that differs is, wherever it stands.
    rows = [f"<li><a href='/{number}'>{f'Row {number}' if number != 6 else ' '}</a></li>" for number in range(9)]
    page.evaluate(
        "rows => document.querySelector('h1').insertAdjacentHTML('afterend', rows)", f"<ol>{''.join(rows)}</ol>"
    )
    page.evaluate("document.querySelector('ol > :nth-child(8) a').style.color = '#eee'")
    of_rows = violations(page)
    assert any(text.startswith("link-name, light") and "/6" in text for text in of_rows), of_rows
    assert any(text.startswith("color-contrast, light") and "/7" in text for text in of_rows), of_rows
    page.evaluate("document.querySelector('h1').style.minWidth = '400px'")
    (wide,) = [fault for fault in faults_at_each_width(page) if "wider than the screen" in fault]
    assert wide.startswith("320 px")


def test_a_text_is_measured_again_where_it_is_painted_otherwise(open_browser: Open) -> None:
    page = open_browser().new_page()
    page.goto("/servers/")
    box = "<div id=box><div id=behind></div><p id=text>Some words</p></div>"
    page.evaluate("box => document.querySelector('h1').insertAdjacentHTML('afterend', box)", box)
    assert violations(page) == []
    before = len(PASSED)
    assert violations(page) == [] and len(PASSED) == before > 1
    gray = "light-dark(#888, #777)"
    over = {"box": "position: relative", "behind": f"background: {gray}; height: 60px; width: 9em"}
    for styles in (
        {"text": f"color: {gray}"},
        {"text": "opacity: .4"},
        {"text": f"background: {gray}; color: light-dark(#aaa, #555)"},
        {"box": f"background: {gray}"},
        {"box": "opacity: .4"},
        *(
            {**over, "text": moved}
            for moved in ("position: absolute; top: 0", "position: relative; top: -40px", "margin-top: -50px")
        ),
    ):
        for one in ("box", "behind", "text"):
            page.evaluate("([one, style]) => document.getElementById(one).style = style", [one, styles.get(one, "")])
        found = {fault.partition(":")[0] for fault in violations(page)}
        assert found == {"color-contrast, light", "color-contrast, dark"}, styles
    page.evaluate("document.getElementById('box').remove()")
    assert violations(page) == []
