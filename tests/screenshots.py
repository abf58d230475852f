"""Makes docs/screenshots from a running site with the Simulator: `make screenshots`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from tests.animated_png import joined
from tests.e2e.conftest import answered, ask, new_chat
from tests.serving import ADMIN, Site, serving

OUT = Path(__file__).parent.parent / "docs/screenshots"
WIDE, SMALL = ViewportSize(width=1280, height=800), ViewportSize(width=880, height=560)
LARGEST = 1_000_000  # bytes of the animated picture
TESTS = 120_000  # milliseconds that the first tests may take


def main() -> None:
    with tempfile.TemporaryDirectory() as first, serving(Path(first)) as site, signed_in(site) as page:
        first_minutes(page)
        for kind in ("start", "models"):
            page.set_viewport_size(WIDE)
            page.goto(f"/{kind}/")
            keep(page, kind)
        page.get_by_role("link", name="sim-hermes").first.click()
        page.wait_for_url("**/models/*/")
        keep(page, "model")
        chat(page)


def first_minutes(page: Page) -> None:
    """The first visit until a table with bars: one picture for each fifth of the tests, then the chat."""
    page.set_viewport_size(SMALL)
    page.goto("/start/")
    frames = [page.screenshot()]
    page.locator("#test-all").click()
    expect(page.locator("progress")).to_be_visible()
    for share in (1, 2, 3, 4):
        heading = page.locator(".stages h2").nth(1)
        while tested(page) < share / 5:
            expect(heading).not_to_have_text(heading.inner_text(), timeout=TESTS)
        frames.append(tiles(page))
    expect(page.locator("progress")).to_have_count(0, timeout=TESTS)
    frames.append(tiles(page))
    page.locator("#surprise-title").scroll_into_view_if_needed()
    frames.append(page.screenshot())
    page.get_by_role("button", name="Start: Query a database").click()
    page.wait_for_url("**/chat/*/")
    answered(page)
    page.locator(".message[data-role=user]").last.evaluate("one => one.scrollIntoView({ block: 'start' })")
    frames.append(page.screenshot())
    page.locator("td .bar").nth(8).scroll_into_view_if_needed()
    frames.append(page.screenshot())
    moving = joined(frames, 1.2, 4)
    assert len(moving) <= LARGEST, len(moving)
    (OUT / "first-minutes.png").write_bytes(moving)


def tiles(page: Page) -> bytes:
    """Return a picture of the counts and of the tiles below them."""
    page.locator(".stages").evaluate("one => scrollTo(0, scrollY + one.getBoundingClientRect().top - 64)")
    return page.screenshot()


def tested(page: Page) -> float:
    """The share of the tests that is done."""
    bars = page.locator("progress").evaluate_all("bars => bars.map(bar => bar.value / bar.max)")
    return float(bars[0]) if bars else 1.0


def chat(page: Page) -> None:
    new_chat(page, "sim-honest")
    ask(page, "What's in this folder?")
    answered(page)
    ask(page, "Read config.json and tell me the version")
    answered(page)
    page.locator(".call > summary:visible").last.click()
    page.locator(".message[data-role=user]").last.evaluate("one => one.scrollIntoView({ block: 'start' })")
    keep(page, "chat")


def keep(page: Page, name: str) -> None:
    """Keep the page in each theme."""
    for theme in ("dark", "light"):
        page.emulate_media(color_scheme=theme)
        page.screenshot(path=OUT / f"{name}-{theme}.png")


@contextmanager
def signed_in(site: Site) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser: Browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=["--no-sandbox"])
        page = browser.new_context(base_url=site.url, reduced_motion="reduce", viewport=WIDE).new_page()
        page.goto("/login/")
        page.get_by_label("Username").fill(ADMIN[0])
        page.get_by_label("Password").fill(ADMIN[1])
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("button", name="Account of").wait_for()
        yield page
        browser.close()


if __name__ == "__main__":
    main()
