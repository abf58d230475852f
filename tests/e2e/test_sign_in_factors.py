"""Passkeys with Chromium's virtual authenticator, codes of an app and recovery codes, on the pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.test_access_for_all import violations
from tests.serving import ADMIN, Site
from tests.toolsupport.web.authenticator import Authenticator

pytestmark = pytest.mark.e2e


def put_device(page: Page) -> None:
    """Give the browser a device that has passkeys and verifies its person."""
    tools = page.context.new_cdp_session(page)
    tools.send("WebAuthn.enable")
    device = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    more = {"isUserVerified": True, "automaticPresenceSimulation": True}
    tools.send("WebAuthn.addVirtualAuthenticator", {"options": {**device, **more}})


def give_password(page: Page, address: str) -> None:
    page.goto(f"{address}/login/")
    page.get_by_label("Username").fill(ADMIN[0])
    page.get_by_label("Password").fill(ADMIN[1])
    page.get_by_role("button", name="Sign in", exact=True).click()


def enter_with_passkey(page: Page, address: str) -> None:
    page.goto(f"{address}/login/?next=/account/")
    assert violations(page) == []
    page.get_by_role("button", name="Sign in with a passkey").click()


def sign_out(page: Page) -> None:
    page.context.clear_cookies()


def test_a_passkey_from_its_addition_to_its_removal(
    own_site: Site, open_browser: Callable[..., BrowserContext], complaints: list[str]
) -> None:
    address = f"http://localhost:{own_site.port}"  # an IP address has no passkeys
    page = open_browser(own=True).new_page()
    put_device(page)
    give_password(page, address)
    page.goto(f"{address}/account/")
    form = page.locator("form[data-passkey]")
    form.get_by_label("Name").fill("Laptop")
    form.get_by_label("Password").fill("wrong")
    form.get_by_role("button", name="Add a passkey").click()
    expect(form.get_by_role("alert")).to_have_text("The password is wrong.")
    form.get_by_label("Password").fill(ADMIN[1])
    form.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_label("Recovery codes")).to_be_visible()
    page.goto(f"{address}/account/")
    expect(page.get_by_role("row", name="Laptop")).to_be_visible()
    assert violations(page) == []
    sign_out(page)
    enter_with_passkey(page, address)
    expect(page.get_by_role("heading", name="Your account")).to_be_visible()
    sign_out(page)
    give_password(page, address)
    assert violations(page) == []
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url(lambda url: "/login" not in url)
    page.goto(f"{address}/account/")
    page.get_by_role("link", name="Remove").click()
    assert violations(page) == []
    page.get_by_label("Password").fill(ADMIN[1])
    page.get_by_role("button", name="Remove passkey").click()
    expect(page.get_by_text("Removed Laptop here.")).to_be_visible()
    sign_out(page)
    enter_with_passkey(page, address)
    expect(page.get_by_role("alert").filter(has_text="This passkey was not accepted.")).to_be_visible()
    assert [status for text in complaints for status in ("403", "422") if status in text] == ["422", "403"]
    complaints.clear()  # the wrong password and the removed passkey


def test_a_required_app_and_a_recovery_code(
    sites: Callable[..., Site], open_browser: Callable[..., BrowserContext]
) -> None:
    site = sites(TOOLSUPPORT_REQUIRE_SECOND_FACTOR="everyone")
    page = open_browser(own=True).new_page()
    give_password(page, site.url)
    expect(page.get_by_role("heading", name="Set up a second factor")).to_be_visible()
    expect(page.get_by_text("Passkeys need an address with a host name")).to_be_visible()
    assert violations(page) == []
    page.get_by_label("Password").fill(ADMIN[1])
    page.get_by_role("button", name="Set up authenticator app").click()
    app = Authenticator(page.content())
    page.get_by_role("textbox", name="Code").fill(app.code())
    page.get_by_role("button", name="Confirm").click()
    recovery = page.get_by_label("Recovery codes").inner_text().split()
    page.get_by_role("link", name="Continue").click()
    page.wait_for_url(lambda url: "/account" not in url)
    sign_out(page)
    give_password(page, site.url)
    page.get_by_role("textbox", name="Code").fill(app.code(1))
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(lambda url: "/login" not in url)
    sign_out(page)
    give_password(page, site.url)
    page.get_by_role("textbox", name="Code").fill(recovery[0])
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.goto(f"{site.url}/account/")
    expect(page.get_by_text("Recovery codes left: 9")).to_be_visible()
