"""A change that is under way on a slow link is never aborted by a later filter, poll or change."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from playwright.sync_api import BrowserContext, Page, Request, Route, expect

from tests.serving import Site

pytestmark = pytest.mark.e2e
Act = Callable[[Page], object]
TESTS = "**/models/detect/"


@pytest.fixture(scope="module")
def site(own_site: Site) -> Site:
    """Nothing but these tests finds anything out about its models."""
    return own_site


class SlowLink:
    """A page whose requests of one address get their replies late; `aborted` has changes that the page gave up."""

    def __init__(self, page: Page) -> None:
        self.page, self.aborted = page, list[str]()
        page.on("requestfailed", self._failed)

    def _failed(self, request: Request) -> None:
        if request.method != "GET":
            self.aborted.append(request.url)

    def begin(self, address: str | re.Pattern[str], act: Act) -> None:
        """Do what sends a request, which the server answers. Its reply is under way until `end`."""
        held: list[Route] = []
        self.page.route(address, lambda route: held.append(route) if not held else route.continue_())
        act(self.page)
        while not held:
            self.page.title()
        self.route, self.reply = held[0], held[0].fetch()

    def end(self) -> None:
        self.route.fulfill(response=self.reply)


@pytest.fixture
def link(open_browser: Callable[..., BrowserContext]) -> SlowLink:
    page = open_browser(own=True).new_page()
    page.clock.install()
    return SlowLink(page)


def press(name: str) -> Act:
    return lambda page: page.get_by_role("button", name=name).click()


def chip(name: str) -> Act:
    return lambda page: page.locator(f"#chip-{name}").click()


def search(words: str) -> Act:
    return lambda page: page.get_by_label("Filter by model or server").fill(words)


def search_then_chip(page: Page) -> None:
    search("sim-lo")(page)
    page.clock.run_for(1_000)
    chip("all")(page)


@dataclass(frozen=True)
class LaterFilter:
    """What a person asks for while tests of two models are begun, and what the page shows afterwards."""

    models: str
    ask: Act
    address: str
    rows: str


FILTERS = [
    LaterFilter("sim-constrained", search("sim-lo"), r"\?q=sim-lo\b", "sim-loops"),
    LaterFilter("sim-un", chip("all"), r"\?q=sim-un$", "2 models"),
    LaterFilter("sim-python", search_then_chip, r"\?q=sim-lo$", "sim-loops"),
]


@pytest.mark.parametrize("row", FILTERS, ids=lambda row: row.models)
def test_a_later_filter_waits_for_tests_that_are_begun(link: SlowLink, row: LaterFilter) -> None:
    page = link.page
    page.goto(f"/models/?q={row.models}")
    link.begin(TESTS, press("Test 2 untested"))
    row.ask(page)
    page.clock.run_for(25_000)  # polls too
    assert link.aborted == []
    link.begin(re.compile(r"/models/\?"), lambda page: link.end())
    expect(page.locator("#bulk")).to_contain_text(re.compile(r"Testing\s+\d+\s+models"))
    link.end()
    expect(page).to_have_url(re.compile(row.address))
    expect(page.locator("#rows")).to_contain_text(row.rows)
    expect(page.locator("#chip-all b")).to_have_text("2")
    page.unroute_all()


def test_tests_are_those_of_the_models_that_a_person_saw(link: SlowLink) -> None:
    """A filter that was asked for before does not change them, and is applied afterwards."""
    page = link.page
    page.goto("/models/?q=sim-hermes")
    link.begin(re.compile(r"/models/\?"), search("sim-json"))
    with page.expect_request(TESTS) as begun:
        press("Test 1 untested")(page)
    assert "q=sim-hermes" in (begun.value.post_data or "")
    expect(page.locator("#rows")).to_contain_text("sim-json:latest")
    expect(page).to_have_url(re.compile(r"\?q=sim-json\b"))
    expect(page.locator("#bulk")).to_contain_text("Test 1 untested")


def by_key(model: str) -> Act:
    return lambda page: page.locator("tr", has_text=model).locator(".cell").first.press("t")


def test_tests_of_two_models_are_both_begun(link: SlowLink) -> None:
    page = link.page
    page.goto("/models/?q=sim-f")
    link.begin(TESTS, by_key("sim-flaky"))
    by_key("sim-fickle")(page)
    page.clock.run_for(5_000)
    assert link.aborted == []
    with page.expect_response(TESTS):
        link.end()
    for model in ("sim-flaky", "sim-fickle"):
        expect(page.locator("tr", has_text=model).locator(".ev").first).not_to_contain_text("Claimed")
    assert link.aborted == []


def test_a_switch_that_is_pressed_twice_shows_and_keeps_its_last_state(link: SlowLink) -> None:
    page = link.page
    page.goto("/tools/")
    switch = page.get_by_role("switch").first
    before = switch.is_checked()
    link.begin("**/switch/", lambda page: switch.click())
    switch.click()
    page.clock.run_for(1_000)
    assert link.aborted == []
    with page.expect_response("**/switch/"):
        link.end()
    expect(page.locator(".saved")).to_be_visible()
    expect(switch).to_be_checked(checked=before)
    page.reload()
    expect(switch).to_be_checked(checked=before)


def test_only_what_changes_nothing_is_replaced(link: SlowLink) -> None:
    """A person who corrects an address does not wait for the answer of the wrong one."""
    page = link.page
    page.goto("/start/")
    address = page.get_by_label("Address of the server")
    address.fill("http://169.254.169.254")
    link.begin("**/guess/", press("Connect server"))
    address.fill("ftp://127.0.0.1")
    press("Connect server")(page)
    expect(page.locator("#guess")).to_contain_text("http")
    assert len(link.aborted) == 1
