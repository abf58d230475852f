"""Fallback models in a chat, and a required exam that only some people may set aside, in a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.chat.test_model_fallbacks import model_of, number_of, post
from tests.e2e.conftest import answered, ask, new_chat
from tests.e2e.test_access_for_all import faults_at_each_width
from tests.many_users import crowd
from tests.serving import Site, free_port

pytestmark = pytest.mark.e2e

Open = Callable[..., BrowserContext]
HONEST = "sim-honest:latest"
QUESTION = "What's in this folder?"


@pytest.fixture
def away(site: Site, ana: httpx.Client) -> tuple[str, int]:
    """A model whose server does not answer: its name and number."""
    port = free_port()
    return f"m{port}", model_of(site, ana, port)


def of_person(open_browser: Open, site: Site, person: dict[str, Any]) -> Page:
    context = open_browser()
    context.add_cookies([{"name": "sessionid", "value": person["cookie"], "url": site.url}])
    return context.new_page()


# C6
def test_a_chat_shows_which_model_answered_instead(page: Page, site: Site, away: tuple[str, int]) -> None:
    name, number = away
    page.goto(f"/models/{number}/")
    page.get_by_text("Change fallback models").click()
    page.get_by_label("Fallback 1").select_option(value=str(number_of(site, HONEST)))
    chain = page.locator("#fallbacks")
    chain.get_by_label("Reason").fill("Its server may be down.")
    chain.get_by_role("button", name="Save").click()
    expect(chain.get_by_role("listitem")).to_contain_text([f"{HONEST}"])
    expect(chain.get_by_role("listitem").get_by_text("can answer")).to_be_visible()
    chat = new_chat(page, name).url
    ask(page, QUESTION)
    answered(page)
    notice = page.locator(".notice[data-code=fallback]")
    expect(notice).to_contain_text(f"{name} could not answer")
    expect(notice).to_contain_text(f"Continuing with Simulator/{HONEST}.")
    expect(page.locator(".message[data-role=assistant]").last).to_contain_text("sim-honest")
    expect(page.locator("#picker-button")).to_contain_text(name)
    assert faults_at_each_width(page) == []
    page.reload()
    expect(notice).to_have_count(1)
    page.goto(f"{chat}explain/")
    expect(page.get_by_role("heading", name="Fallback models")).to_be_visible()
    expect(page.locator("#fallbacks").get_by_role("listitem")).to_contain_text([HONEST])
    assert faults_at_each_width(page) == []


def required(page: Page, number: int) -> None:
    """Require the quick exam of a model on its page."""
    page.goto(f"/models/{number}/")
    page.get_by_text("Change the required exam").click()
    page.get_by_label("Each build must pass").select_option("quick")
    page.get_by_label("Reason for the change").fill("Calls broke after an update.")
    page.locator("#save-gate").click()
    expect(page.locator("#gate")).to_contain_text("Not passed yet")


# E6
def test_only_some_people_may_use_a_build_without_its_exam(
    page: Page, open_browser: Open, site: Site, ana: httpx.Client, away: tuple[str, int]
) -> None:
    name, number = away
    alice, bob, charlie = crowd(site, 3)
    post(ana, f"/people/{bob['id']}/role/", {"role": "reviewer"})
    required(page, number)
    owner = new_chat(of_person(open_browser, site, alice), name)
    expect(owner.locator("body")).to_contain_text(f"{name} has not passed its required exam quick")
    reader = of_person(open_browser, site, charlie)
    reader.goto(f"/models/{number}/")
    expect(reader.locator("#gate")).to_contain_text("Not passed yet")
    expect(reader.locator("#use-anyway")).to_have_count(0)
    expect(reader.get_by_text("Change the required exam")).to_have_count(0)
    reviewer = of_person(open_browser, site, bob)
    reviewer.goto(f"/models/{number}/")
    gate = reviewer.locator("#gate")
    assert faults_at_each_width(reviewer) == []
    gate.get_by_label("Reason", exact=True).fill("The exam waits for a busy server.")
    gate.get_by_role("button", name="Use this build").click()
    expect(gate).to_contain_text("A person allowed this build without the exam quick")
    reader.reload()
    expect(reader.locator("#gate")).to_contain_text("Not required")
    token = next(one["value"] for one in reader.context.cookies() if one["name"] == "csrftoken")
    refused = reader.context.request.post(
        f"/models/{number}/gate/", headers={"X-CSRFToken": token}, form={"reason": "Because.", "use_anyway": "1"}
    )
    assert refused.status == 403
    reviewer.goto(f"/history/?profile={number}")
    expect(reviewer.get_by_text("The exam waits for a busy server.")).to_be_visible()
