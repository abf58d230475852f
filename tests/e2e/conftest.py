"""A browser and a running site for the tests of the pages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.serving import ADMIN, Site

CHROMIUM = os.environ.get("CHROMIUM") or "/usr/bin/chromium"
SWITCHES = (
    "--no-sandbox --disable-gpu --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
)
# No promise of the product: how long a test that fails is waited for, on however busy a machine.
PATIENCE = 60_000

# What a browser says when a test takes the server away from it, or leaves a page that still asks for something.
LEFT = ("htmx:sendAbort", "htmx:sendError", "htmx:afterRequest")
EXPECTED = ("WebSocket connection", "ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "Failed to fetch", *LEFT)

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        pytest.fail("These tests need Chromium: apt-get install chromium-headless-shell")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES.split())
        yield running
        running.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the browser complained about: errors of scripts, broken policies. Empty at the end, or the test fails."""
    return []


@pytest.fixture
def open_browser(
    browser: Browser, site: Site, complaints: list[str], request: pytest.FixtureRequest
) -> Iterator[Callable[..., BrowserContext]]:
    """Makes signed-in browser profiles; takes Playwright's options (viewport, color_scheme …)."""
    opened: list[BrowserContext] = []
    signed_in = request.getfixturevalue("signed_in")

    def open_one(**options: object) -> BrowserContext:
        context = browser.new_context(base_url=site.url, storage_state=signed_in, reduced_motion="reduce", **options)  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE)
        context.on("weberror", lambda error: complaints.append(str(error.error)))
        context.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
        opened.append(context)
        return context

    yield open_one
    for context in opened:
        context.close()
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
    page.wait_for_url("**/chat/**")
    state = context.storage_state()
    context.close()
    return dict(state)


@pytest.fixture
def page(open_browser: Callable[..., BrowserContext]) -> Page:
    """A new conversation with the honest simulated model."""
    return new_chat(open_browser(viewport={"width": 1280, "height": 800}).new_page())


def new_chat(page: Page, model: str = "sim-honest") -> Page:
    """Open a new conversation and choose a model."""
    page.goto("/")
    with page.expect_navigation():
        page.evaluate("document.querySelector('#sidebar form').requestSubmit()")
    ready(page)
    choose(page, model)
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


def until(page: Page, condition: str) -> None:
    """Wait in the page until a condition holds (Playwright's own way needs eval, which the policy forbids)."""
    page.evaluate(
        "new Promise((done, fail) => {"
        f" const look = () => ({condition}) ? done() : requestAnimationFrame(look); look();"
        f" setTimeout(() => fail(new Error('it never came')), {PATIENCE}); }})"
    )


def photograph(page: Page, name: str) -> None:
    """Keep a picture of the page in each theme where somebody wants to look at them."""
    if directory := os.environ.get("SCREENSHOTS"):
        page.emulate_media(color_scheme="dark")
        page.screenshot(path=Path(directory) / f"{name}-dark.png")
        page.emulate_media(color_scheme="light")
        page.screenshot(path=Path(directory) / f"{name}-light.png")
