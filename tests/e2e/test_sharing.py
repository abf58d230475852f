"""Sharing a chat, reading another person's for a reason, and too many open chats, on narrow screens."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import answered, ask, new_chat, ready
from tests.e2e.test_access_for_all import overflow, violations
from tests.many_users import crowd
from tests.serving import ADMIN, Site

pytestmark = pytest.mark.e2e

Open = Callable[..., BrowserContext]
MOST = 3


@pytest.fixture(scope="module")
def site(sites: Callable[..., Site]) -> Site:
    """A site on which a person may have few chats open at once."""
    return sites(TOOLSUPPORT_SOCKETS_PER_PERSON=str(MOST)).alive()


@pytest.fixture(scope="module")
def colleague(site: Site) -> dict[str, str]:
    """Somebody else: name, cookie, conversation."""
    return crowd(site, 1)[0]


def narrow(open_browser: Open) -> BrowserContext:
    return open_browser(viewport={"width": 320, "height": 700})


def as_colleague(open_browser: Open, site: Site, colleague: dict[str, str]) -> Page:
    context = narrow(open_browser)
    context.add_cookies([{"name": "sessionid", "value": colleague["cookie"], "url": site.url}])
    return context.new_page()


# C11
def test_a_colleague_reads_what_is_shared(open_browser: Open, site: Site, colleague: dict[str, str]) -> None:
    page = new_chat(narrow(open_browser).new_page())
    ask(page, "Read config.json and tell me the version")
    answered(page)
    page.get_by_role("button", name="Share", exact=True).first.click()
    page.get_by_label("Name of a person").fill(colleague["name"])
    page.get_by_label("Name of a person").press("Enter")
    expect(page.get_by_role("button", name=f"Withdraw: {colleague['name']}")).to_be_visible()
    assert violations(page) == [] and overflow(page) <= 0
    theirs = as_colleague(open_browser, site, colleague)
    theirs.goto("/shared/")
    assert violations(theirs) == [] and overflow(theirs) <= 0
    theirs.locator("main .list a").first.click()
    expect(theirs.locator("main")).to_contain_text("Read a file")
    expect(theirs.locator("main")).to_contain_text(f"A chat of {ADMIN[0]}")
    assert violations(theirs) == [] and overflow(theirs) <= 0


# SAFETY 3
def test_an_administrator_gives_a_reason_and_the_owner_sees_it(
    open_browser: Open, site: Site, colleague: dict[str, str]
) -> None:
    page = narrow(open_browser).new_page()
    page.goto("/shared/")
    page.get_by_role("link", name="other people's chats").click()
    assert violations(page) == [] and overflow(page) <= 0
    page.locator("main .list a", has_text=colleague["name"]).first.click()
    page.get_by_label("Reason").fill("A question about the screen")
    assert violations(page) == [] and overflow(page) <= 0
    page.get_by_label("Reason").press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("sees that you read it")
    assert violations(page) == [] and overflow(page) <= 0
    theirs = as_colleague(open_browser, site, colleague)
    theirs.goto(f"/chat/{colleague['conversation']}/")
    ready(theirs)
    expect(theirs.locator("#transcript")).to_contain_text("A question about the screen")
    theirs.get_by_role("button", name="Share", exact=True).first.click()
    expect(theirs.locator("#readers")).to_contain_text(f"{ADMIN[0]}, ")
    assert violations(theirs) == [] and overflow(theirs) <= 0


# O7
def test_a_chat_too_many_says_so_and_connects_when_there_is_room(open_browser: Open) -> None:
    context = narrow(open_browser)
    first = new_chat(context.new_page())
    others = [context.new_page() for _ in range(MOST)]
    for page in others:
        page.goto(first.url)
    last = others[-1]
    expect(last.locator("#offline")).to_contain_text("too many chats open")
    assert violations(last) == [] and overflow(last) <= 0
    first.close()
    ready(last)
    expect(last.locator("#offline")).to_be_hidden()


# UX
def test_a_tool_runs_again_from_its_card(page: Page) -> None:
    ask(page, "Read config.json and tell me the version")
    answered(page)
    page.locator(".call > summary").click()
    assert violations(page) == []
    page.get_by_role("button", name="Run again").press("Enter")
    expect(page.locator(".call")).to_have_count(2)
    answered(page)
    expect(page.locator(".call").last).to_have_attribute("data-status", "done")
    expect(page.locator(".message[data-role=user]")).to_have_count(1)
