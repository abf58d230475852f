"""The first visit in a browser: test the models, see claim beside proof, let one of them do a real task."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.conftest import answered, photograph, ready
from tests.e2e.writing_server import MODEL, removed, writing_server
from tests.serving import Site

pytestmark = pytest.mark.e2e


# U13
def test_from_the_claims_to_a_table_with_bars(open_browser: Callable[..., BrowserContext], site: Site) -> None:
    for name in ("sim-honest", "sim-hermes"):
        site.manage("detect", name)
    page = open_browser(viewport={"width": 1280, "height": 800}).new_page()
    page.goto("/start/")
    tiles = page.locator(".tile")
    expect(tiles.filter(has_text="sim-hermes")).to_contain_text("Claims no tools")
    expect(tiles.filter(has_text="sim-hermes")).to_contain_text("Hermes 2 of 2")
    expect(page.get_by_role("heading", name="Surprise: sim-hermes")).to_be_visible()
    for width in (320, 640):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    photograph(page, "first-visit")
    # What grows above its reader while tests run does not scroll the page.
    assert (
        page.evaluate(
            "async () => { scrollTo(0, 400); const frame = () => new Promise(requestAnimationFrame); await frame();"
            " document.querySelector('.opening').style.minHeight = '45rem'; await frame(); await frame();"
            " return scrollY; }"
        )
        == 400
    )

    page.get_by_role("button", name="Start: Query a database").press("Enter")
    page.wait_for_url("**/chat/*/")
    answered(page)
    expect(page.locator("#picker-button")).to_contain_text("sim-hermes")
    page.locator(".call summary").first.click()
    expect(page.locator("td .bar")).to_have_count(12)


def test_an_own_server_is_recognised_and_added(open_browser: Callable[..., BrowserContext], site: Site) -> None:
    page = open_browser().new_page()
    page.goto("/start/")
    address = page.get_by_label("Address of the server")
    with writing_server() as server:
        address.fill(server.url)
        page.get_by_role("button", name="Connect").press("Enter")
        guess = page.locator("#guess")
        expect(guess).to_contain_text("This looks like an OpenAI-compatible server.")
        guess.get_by_role("button", name="Add server").press("Enter")
        page.wait_for_url("**/servers/**")
        expect(page.locator("main")).to_contain_text(server.url)
        page.goto("/start/")
        expect(page.locator(".tile").filter(has_text=MODEL)).to_have_count(1)
    # Now nothing answers there.
    address.fill(server.url)
    page.get_by_role("button", name="Connect").click()
    expect(guess).to_contain_text("Nothing answers at")
    page.get_by_role("button", name="Skip tour").click()
    ready(page)
    removed(site, server)
