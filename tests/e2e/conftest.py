"""A browser and a running site for the tests of the pages."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, ViewportSize, expect, sync_playwright

from tests.serving import ADMIN, Site

CHROMIUM = os.environ.get("CHROMIUM") or "/usr/bin/chromium"
# Few processes: one for all pages of a profile, none for graphics.
SWITCHES = (
    "--no-sandbox --disable-gpu --in-process-gpu --process-per-site --no-first-run --disable-dev-shm-usage "
    "--disable-background-networking --disable-component-update --disable-sync"
)
KEPT = "/static/img/favicon.svg"  # a page without scripts
WIDE: ViewportSize = {"width": 1280, "height": 800}
# No promise of the product: how long a test that fails is waited for, on however busy a machine.
PATIENCE = 60_000

# The event of the picker.
CHOOSE = "name => document.dispatchEvent(new CustomEvent('model:chosen', { detail: name }))"

# What a browser says when a test takes the server away from it, or leaves a page that still asks for something.
LEFT = ("htmx:sendAbort", "htmx:sendError", "htmx:afterRequest")
EXPECTED = (
    "WebSocket connection",
    "ERR_CONNECTION_REFUSED",
    "ERR_CONNECTION_RESET",
    "ERR_EMPTY_RESPONSE",
    "Failed to fetch",
    *LEFT,
)

# A part is asked for within a frame of what causes it, which may be another part that came.
SETTLED = """async () => {
  await document.fonts.ready;
  for (let quiet = 0; quiet < 4; quiet++) {
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    if (document.readyState !== "complete" || document.querySelector(".htmx-request")) quiet = 0;
  }
}"""

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        pytest.fail("These tests need Chromium: apt-get install chromium-headless-shell")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES.split())
        yield running
        running.close()


class Profiles:
    """Browser profiles that tests use one after another: scripts and styles stay in their caches."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.complaints: list[str] = []  # those of the running test
        self.idle: defaultdict[str, list[BrowserContext]] = defaultdict(list)

    def take(self, address: str) -> BrowserContext:
        """A profile in which nothing is stored."""
        return self.idle[address].pop() if self.idle[address] else self.made(address)

    def made(self, address: str) -> BrowserContext:
        context = self.browser.new_context(base_url=address, reduced_motion="reduce", viewport=WIDE)
        context.set_default_timeout(PATIENCE)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        context.on("console", lambda line: self.complaints.append(line.text) if line.type == "error" else None)
        # It stays open, and with it the process of the browser that has the scripts compiled: others take a third more.
        context.new_page().goto(KEPT)
        return context

    def give_back(self, address: str, context: BrowserContext) -> None:
        """Close its pages and remove what they stored."""
        context.clear_cookies()
        first, *more = context.pages
        for page in more:
            page.close()
        devtools = context.new_cdp_session(first)
        devtools.send("Storage.clearDataForOrigin", {"origin": address, "storageTypes": "all"})
        devtools.detach()
        self.idle[address].append(context)


@pytest.fixture(scope="session")
def profiles(browser: Browser) -> Profiles:
    return Profiles(browser)


@pytest.fixture
def complaints(profiles: Profiles) -> list[str]:
    """What the browser complained about: errors of scripts, broken policies. Empty at the end, or the test fails."""
    profiles.complaints.clear()
    return profiles.complaints


@pytest.fixture
def open_browser(
    profiles: Profiles, site: Site, complaints: list[str], signed_in: dict[str, Any]
) -> Iterator[Callable[..., BrowserContext]]:
    """Gives signed-in browser profiles, whose pages get this size and these media (color_scheme …).

    What a test adds to a profile stays there: a test that listens to its requests or adds scripts takes an `own` one.
    """
    taken: list[BrowserContext] = []
    owned: list[BrowserContext] = []

    def open_one(*, own: bool = False, viewport: ViewportSize = WIDE, **media: Any) -> BrowserContext:
        context = profiles.made(site.url) if own else profiles.take(site.url)
        context.add_cookies(signed_in["cookies"])
        (owned if own else taken).append(context)

        def new_page() -> Page:
            page = BrowserContext.new_page(context)
            page.set_viewport_size(viewport)
            if media:
                page.emulate_media(**media)
            return page

        context.new_page = new_page  # type: ignore[method-assign]
        return context

    yield open_one
    for context in owned:
        context.close()
    for context in taken:
        profiles.give_back(site.url, context)
    assert [text for text in complaints if not any(words in text for words in EXPECTED)] == []


@pytest.fixture(scope="session")
def signed_in_at(browser: Browser) -> Callable[[str], dict[str, object]]:
    """The cookies of somebody who signed in through the page, by the address of the site."""
    return cache(lambda address: sign_in_at(browser, address))


@pytest.fixture(scope="module")
def signed_in(signed_in_at: Callable[[str], dict[str, object]], site: Site) -> dict[str, object]:
    return signed_in_at(site.url)


def sign_in_at(browser: Browser, address: str) -> dict[str, object]:
    context = browser.new_context(base_url=address)
    page = context.new_page()
    page.goto("/")
    page.get_by_label("Username").fill(ADMIN[0])
    page.get_by_label("Password").fill(ADMIN[1])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/login/" not in url)
    state = context.storage_state()
    context.close()
    return dict(state)


@pytest.fixture
def page(open_browser: Callable[..., BrowserContext]) -> Page:
    """A new conversation with the honest simulated model."""
    return new_chat(open_browser(viewport={"width": 1280, "height": 800}).new_page())


def new_chat(page: Page, model: str = "sim-honest") -> Page:
    """Open a new conversation with a model without the ways of the page, which have tests of their own."""
    token = next(one["value"] for one in page.context.cookies() if one["name"] == "csrftoken")
    made = page.context.request.post("/chat/new/", headers={"X-CSRFToken": token}, max_redirects=0)
    page.goto(made.headers["location"])
    ready(page)
    if model not in page.locator("#picker-button").inner_text():
        page.evaluate(CHOOSE, model)
        expect(page.locator("#picker-button")).to_contain_text(model)
    return page


def ready(page: Page) -> None:
    """Wait until the page is connected."""
    expect(page.locator("#chat")).to_have_attribute("data-connected", "true")


def choose(page: Page, model: str) -> None:
    """Choose a model in the picker; nothing happens where it is the one in use."""
    if model in page.locator("#picker-button").inner_text():
        return
    page.locator("#picker-button").click()
    page.get_by_role("combobox", name="Search models").fill(model)
    page.keyboard.press("Enter")
    expect(page.locator("#picker-button")).to_contain_text(model)


def press(page: Page, key: str) -> None:
    """Press a key in an approval, which takes no key at the moment when it gets the focus."""
    expect(page.locator("[data-early]")).to_have_count(0)
    page.keyboard.press(key)


def ask(page: Page, text: str) -> None:
    """Send a message as a person does."""
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")
    expect(page.locator(".message[data-role=user]").last).to_contain_text(text)


def answered(page: Page) -> None:
    """Wait for the end of the last answer, by what lasts: the line of the status tells of other things too."""
    transcript = page.locator("#transcript")
    answer = transcript.locator("> .message").last
    expect(answer).to_have_attribute("data-role", "assistant")
    expect(transcript).to_have_attribute("aria-busy", "false")
    expect(answer).to_have_attribute("data-finished", "true")
    expect(answer.locator("> [data-ended]")).to_have_count(0)
    formatted(page)


def formatted(page: Page) -> None:
    """Wait until answers that ended on a busy machine are formatted; what stays plain has a note above it."""
    expect(page.locator(".prose > .toolong:first-child")).to_have_count(0)


def raw_exchange(page: Page) -> Locator:
    """The raw exchange of the last answer, opened by its menu."""
    page.get_by_role("button", name="More", exact=True).last.click()
    page.get_by_role("button", name="Raw exchange").last.click()
    return page.locator(".wire").last


def until(page: Page, condition: str) -> None:
    """Wait in the page until a condition holds (Playwright's own way needs eval, which the policy forbids)."""
    page.evaluate(
        "new Promise((done, fail) => {"
        f" const look = () => ({condition}) ? done() : requestAnimationFrame(look); look();"
        f" setTimeout(() => fail(new Error('it never came')), {PATIENCE}); }})"
    )


def settled(page: Page) -> None:
    """Wait until a page has fetched what it fetches by itself: its fonts, and parts that come late or are unfolded."""
    page.evaluate(SETTLED)


def photograph(page: Page, name: str) -> None:
    """Keep a picture of the page in each theme where somebody wants to look at them."""
    if directory := os.environ.get("SCREENSHOTS"):
        page.emulate_media(color_scheme="dark")
        page.screenshot(path=Path(directory) / f"{name}-dark.png")
        page.emulate_media(color_scheme="light")
        page.screenshot(path=Path(directory) / f"{name}-light.png")
