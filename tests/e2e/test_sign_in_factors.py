"""Passkeys with Chromium's virtual authenticator, codes of an app and recovery codes, on the pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.test_access_for_all import violations
from tests.serving import ADMIN, Site
from tests.toolsupport.web.authenticator import Authenticator

pytestmark = pytest.mark.e2e
OWN_PASSWORD = "nine green umbrellas sing"


def put_device(page: Page) -> None:
    """Give the browser a device that has passkeys and verifies its person."""
    tools = page.context.new_cdp_session(page)
    tools.send("WebAuthn.enable")
    device = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    more = {"isUserVerified": True, "automaticPresenceSimulation": True}
    tools.send("WebAuthn.addVirtualAuthenticator", {"options": {**device, **more}})


def give_password(page: Page, address: str, person: tuple[str, str] = ADMIN) -> None:
    page.goto(f"{address}/login/")
    page.get_by_label("Username").fill(person[0])
    page.get_by_label("Password").fill(person[1])
    page.get_by_role("button", name="Sign in", exact=True).click()


def enter_with_passkey(page: Page, address: str) -> None:
    page.goto(f"{address}/login/?next=/account/")
    assert violations(page) == []
    page.get_by_role("button", name="Sign in with a passkey").click()


def sign_out(page: Page) -> None:
    page.context.clear_cookies()


def remove_passkey(page: Page, name: str) -> None:
    page.get_by_label("Password").fill(ADMIN[1])
    page.get_by_role("button", name="Remove passkey").click()
    expect(page.get_by_text(f"Removed {name} here.")).to_be_visible()


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
    page.get_by_role("link", name="Change the second factor").click()
    assert violations(page) == []
    page.get_by_role("button", name="Use a passkey").click()
    page.get_by_role("link", name="Remove").click()
    assert violations(page) == []
    remove_passkey(page, "Laptop")
    sign_out(page)
    enter_with_passkey(page, address)
    expect(page.get_by_role("alert").filter(has_text="This passkey was not accepted.")).to_be_visible()
    assert [status for text in complaints for status in ("403", "422") if status in text] == ["422", "403"]
    complaints.clear()  # the wrong password and the removed passkey


def join(page: Page, link: str) -> None:
    """Come in by an invitation, and add a passkey and an app."""
    put_device(page)
    page.goto(link)
    for label in ("Password", "Password again"):
        page.get_by_label(label, exact=True).fill(OWN_PASSWORD)
    page.get_by_role("button", name="Set the password").click()
    page.wait_for_url(lambda url: "/join" not in url)
    page.goto(link.partition("/join/")[0] + "/account/")
    form = page.locator("form[data-passkey]")
    form.get_by_label("Name").fill("Phone")
    form.get_by_label("Password").fill(OWN_PASSWORD)
    form.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_label("Recovery codes")).to_be_visible()
    page.goto(link.partition("/join/")[0] + "/account/")
    form = page.locator("form").filter(has_text="Authenticator app")
    form.get_by_label("Password").fill(OWN_PASSWORD)
    form.get_by_role("button", name="Set up authenticator app").click()
    page.get_by_role("textbox", name="Code").fill(Authenticator(page.content()).code())
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("Saved.")).to_be_visible()


def test_an_admin_removes_the_lost_factors_of_a_person(
    own_site: Site, open_browser: Callable[..., BrowserContext], complaints: list[str]
) -> None:
    address = f"http://localhost:{own_site.port}"
    admin, dora = open_browser(own=True).new_page(), open_browser(own=True).new_page()
    give_password(admin, address)
    admin.goto(f"{address}/people/")
    admin.get_by_label("Username").fill("dora")
    admin.get_by_role("button", name="Invite").click()
    join(dora, admin.get_by_text("/join/?token=").inner_text())
    sign_out(dora)
    give_password(dora, address, ("dora", OWN_PASSWORD))
    expect(dora.get_by_role("button", name="Use a passkey")).to_be_visible()
    admin.goto(f"{address}/people/")
    assert violations(admin) == []
    admin.once("dialog", lambda dialog: dialog.accept())
    admin.get_by_role("button", name="Remove the second factors of dora").click()
    expect(admin.get_by_text("Removed. They sign in with the password alone.")).to_be_visible()
    give_password(dora, address, ("dora", OWN_PASSWORD))
    dora.wait_for_url(lambda url: "/login" not in url)
    dora.goto(f"{address}/account/")
    expect(dora.get_by_role("button", name="Set up authenticator app")).to_be_visible()
    sign_out(dora)
    enter_with_passkey(dora, address)
    expect(dora.get_by_role("alert").filter(has_text="This passkey was not accepted.")).to_be_visible()
    assert len(complaints) == 1 and "403" in complaints[0]
    complaints.clear()  # the removed passkey


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
