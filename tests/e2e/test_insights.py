"""The insights in a browser: drawn under the policy, in both themes, on small screens, with the keyboard alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import answered, ask, new_chat, photograph
from tests.e2e.test_access_for_all import FAULTS, overflow, violations
from tests.serving import Site

pytestmark = pytest.mark.e2e

Open = Callable[..., BrowserContext]
WIDE = {"width": 1280, "height": 900}
COUNTED = """
from datetime import timedelta
from django.utils import timezone
from toolsupport.models import CallMetric, ModelProfile
for place, profile in enumerate(ModelProfile.objects.order_by("name")[:10]):
    format = "hermes" if place % 3 else "native"
    for days in range(place % 3, 28, 2):
        for outcome, calls in {"ready": 20 - place, "repaired": 3, "schema": 1 + days % 4}.items():
            CallMetric.objects.get_or_create(
                profile=profile, format=format, outcome=outcome, day=timezone.now().date() - timedelta(days=days),
                defaults={
                    "calls": 99 * calls, "requests": calls, "latency_ms": 900 * calls + days, "tokens": 30 * calls,
                },
            )
"""


@pytest.fixture(scope="module")
def site(own_site: Site) -> Site:
    """Its figures are those of these tests."""
    return own_site


@pytest.fixture(scope="module", autouse=True)
def counted(site: Site) -> None:
    site.manage("refresh_models")
    site.manage("shell", "--no-imports", "-c", COUNTED)


def opened(page: Page) -> Page:
    page.goto("/insights/")
    expect(page.get_by_role("img", name="Calls that could run")).to_be_visible()
    return page


# D15
def test_axe_finds_nothing_and_small_screens_hold_it(open_browser: Open) -> None:
    page = opened(open_browser(viewport=WIDE).new_page())
    page.get_by_text("Show all days").click()
    assert violations(page) == []
    photograph(page, "insights")
    page.set_viewport_size({"width": 320, "height": 700})
    assert overflow(page) == 0
    assert page.evaluate(FAULTS, {"controlsToo": False}) == []
    photograph(page, "insights-small")


@pytest.mark.parametrize(("width", "least"), [(320, 80), (640, 80), (1280, 120)])
def test_a_bar_keeps_a_width_that_can_be_read(open_browser: Open, width: int, least: int) -> None:
    """Its column is as wide as the heading of it, whose words stay on one line; a table without room scrolls."""
    page = opened(open_browser(viewport={"width": width, "height": 800}).new_page())
    widths = "bars => bars.map(bar => bar.getBoundingClientRect().width)"
    of_models, others = (page.locator(f"{table} svg.bar").evaluate_all(widths) for table in (".insight", ".causes"))
    assert len(of_models) > 9 and min(of_models) >= least
    assert len(others) > 2 and min(others) >= 32


def test_the_keyboard_gets_from_the_table_to_a_call(open_browser: Open) -> None:
    page = new_chat(open_browser(viewport=WIDE).new_page())
    ask(page, "Read config.json and tell me the version")
    answered(page)
    opened(page)
    page.get_by_text("Show all days").focus()
    page.keyboard.press("Enter")
    row = page.locator(".counts tbody tr", has_text="sim-honest").first
    row.get_by_role("link").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/insights/calls/**")
    assert violations(page) == []
    photograph(page, "insights-calls")
    page.get_by_role("row", name="config.json").get_by_role("link").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/chat/**#message-*")


def test_a_filter_stands_in_the_address(open_browser: Open) -> None:
    page = opened(open_browser(viewport=WIDE).new_page())
    rows = page.locator(".insight tbody tr")
    assert rows.count() > 9
    page.locator("summary", has_text="Filters").click()
    page.get_by_label("Model", exact=True).select_option(index=1)
    expect(rows).to_have_count(1)
    assert "profile=" in page.url


def test_tiles_fill_their_rows_and_paper_has_no_buttons(open_browser: Open) -> None:
    page = opened(open_browser(viewport=WIDE).new_page())
    tiles, buttons = page.locator(".stat"), page.locator("main").locator("button, .button, [download]")
    for width in (320, 400, 480, 560, 640, 700, 760, 900, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        tops = tiles.evaluate_all("tiles => tiles.map(tile => Math.round(tile.getBoundingClientRect().top))")
        rows = {tops.count(top) for top in tops}
        assert len(tops) == 4 and len(rows) == 1, (width, tops)
    assert buttons.filter(visible=True).count() > 1
    page.emulate_media(media="print")
    assert buttons.filter(visible=True).all_inner_texts() == []
    expect(tiles.first).to_be_visible()
