"""Two presses, one right after the other: the part of the page that both replace shows both."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, Route, WebSocketRoute, expect

from tests.e2e.conftest import new_chat

pytestmark = pytest.mark.e2e
PEOPLE = ("Ada", "Ben")

# Counts requests, and how often the part of the page is replaced.
COUNTING = """() => {
  window.sent = window.put = 0;
  document.addEventListener("htmx:beforeRequest", () => sent++);
  const boards = ({ addedNodes }) => [...addedNodes].filter((node) => node.id === "board").length;
  const count = (records) => records.forEach((record) => put += boards(record));
  new MutationObserver(count).observe(document.body, { childList: true, subtree: true });
}"""


@pytest.fixture
def people(open_browser: Callable[..., BrowserContext]) -> Page:
    page = open_browser(own=True).new_page()
    page.goto("/people/")
    for name in PEOPLE:
        if page.get_by_role("button", name=f"Deactivate {name}").count():
            continue  # of the test before
        page.get_by_label("Username", exact=True).fill(name)
        page.get_by_role("button", name="Invite person").click()
        expect(page.get_by_role("button", name=f"Deactivate {name}")).to_be_visible()
    return page


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["in order", "turned"])
def test_both_changes_are_shown(people: Page, order: tuple[int, int]) -> None:
    held: list[Route] = []
    people.route("**/switch/", lambda route: held.append(route))
    for name in PEOPLE:
        with people.expect_request("**/switch/"):
            people.get_by_role("button", name=f"Deactivate {name}").click()
    while len(held) < len(PEOPLE):
        people.title()
    replies = [route.fetch() for route in held]
    for place in order:
        with people.expect_response("**/switch/"):
            held[place].fulfill(response=replies[place])
    for name in PEOPLE:
        expect(people.get_by_role("button", name=f"Activate {name}", exact=True)).to_be_visible()
    # What was put in works: it is bound, each button acts once, and is put in once.
    people.unroute_all()
    people.evaluate(COUNTING)
    for number, name in enumerate(PEOPLE, 1):
        people.get_by_role("button", name=f"Activate {name}", exact=True).click()
        expect(people.get_by_role("button", name=f"Deactivate {name}")).to_be_focused()
        assert people.evaluate("[sent, put]") == [number, number]


def test_what_was_written_elsewhere_stays(people: Page) -> None:
    """The reply to one form replaces the board: what is written in another stays, with its cursor, and can be sent."""
    invite, pending = people.get_by_label("Username", exact=True), people.get_by_role("button", name="Deactivate Ada")
    with people.expect_response("**/switch/"):
        invite.fill("Cleo")
        pending.click()
    expect(people.get_by_role("button", name="Activate Ada", exact=True)).to_be_visible()
    expect(invite).to_have_value("Cleo")
    # The reply comes while the person goes on writing.
    held: list[Route] = []
    people.route("**/switch/", lambda route: held.append(route))
    people.get_by_role("button", name="Activate Ada", exact=True).click()
    invite.fill("Cleopatra")
    invite.evaluate("field => field.setSelectionRange(4, 4)")
    while not held:
        people.title()
    with people.expect_response("**/switch/"):
        held[0].continue_()
    people.unroute_all()
    expect(people.get_by_role("button", name="Deactivate Ada")).to_be_visible()
    people.keyboard.type("-")
    expect(invite).to_have_value("Cleo-patra")
    people.get_by_role("button", name="Invite person").click()
    # Its own reply empties it, and it stays empty.
    expect(people.get_by_role("button", name="Deactivate Cleo-patra")).to_be_visible()
    expect(invite).to_have_value("")
    for change, back in (("Deactivate", "Activate"), ("Activate", "Deactivate")):
        people.get_by_role("button", name=f"{change} Ada", exact=True).click()
        expect(people.get_by_role("button", name=f"{back} Ada", exact=True)).to_be_visible()
        expect(invite).to_have_value("")


def test_a_field_that_the_site_changed_meanwhile_shows_the_new_value(page: Page) -> None:
    """Text that was written over an older value is not put over the new one."""
    page.locator("#files-toggle").click()
    text = page.get_by_label("Text added to every request")
    for version in ("one", "two"):
        text.fill(version)
        with page.expect_response("**/memory/**"):
            page.get_by_role("button", name="Save memory").click()
        expect(page.locator("#memory")).to_contain_text("Saved")
    text.fill("unsaved")
    page.get_by_role("button", name="Undo the last change").click()
    expect(text).to_have_value("one")


def test_a_button_that_is_being_pressed_is_not_replaced(open_browser: Callable[..., BrowserContext]) -> None:
    """A part that is fetched every second stays between the press and the release of the mouse."""
    page = open_browser(own=True).new_page()
    page.goto("/models/?q=sim-thinks")
    page.get_by_role("button", name=re.compile("^Test (6 untested|these 6)")).click()
    page.get_by_role("button", name="Cancel tests").hover()
    page.mouse.down()
    for _ in range(2):
        page.wait_for_event("requestfinished", lambda request: "/models/detect/" in request.url)
    with page.expect_request("**/models/detect/cancel/"):
        page.mouse.up()
    expect(page.locator("#bulk")).to_contain_text("cancelled", ignore_case=True)


def test_two_quick_prompts_are_both_chosen(page: Page) -> None:
    token = next(one["value"] for one in page.context.cookies() if one["name"] == "csrftoken")
    for name in ("quick-one", "quick-two"):
        written: dict[str, str | float | bool] = {"name": name, "description": "", "text": "Be brief.", "basis": "0"}
        page.context.request.post("/tools/prompts/write/", form=written, headers={"X-CSRFToken": token})
    page.get_by_role("button", name="Settings of this chat").click()
    boxes = [page.get_by_role("checkbox", name=re.compile(name)) for name in ("quick-one", "quick-two")]
    held: list[Route] = []
    page.route("**/prompts/choose/", lambda route: held.append(route))
    for box in boxes:
        box.check()
    # The second choice is sent when the first one is answered.
    for place in range(2):
        while len(held) <= place:
            page.title()
        assert len(held) == place + 1
        held[place].continue_()
    page.unroute_all()
    expect(page.locator("#prompts")).to_contain_text("Saved")
    page.reload()
    page.get_by_role("button", name="Settings of this chat").click()
    for box in boxes:
        expect(box).to_be_checked()


def test_enter_chooses_no_model_in_a_picker_that_was_closed(page: Page) -> None:
    held: list[Route] = []
    page.route(re.compile("/chat/.*/models/"), lambda route: held.append(route))
    page.locator("#picker-button").click()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    while not held:
        page.title()
    with page.expect_response(re.compile("/chat/.*/models/")):
        held[0].continue_()
    expect(page.locator("#models")).to_be_hidden()
    expect(page.locator("#picker-button")).to_contain_text("sim-honest")
    expect(page.locator(".notice")).to_have_count(0)


def test_the_switch_of_tools_shows_what_holds_without_a_connection(open_browser: Callable[..., BrowserContext]) -> None:
    page = open_browser(own=True).new_page()
    lines: list[WebSocketRoute] = []

    def connect(line: WebSocketRoute) -> None:
        if lines:
            return line.close()
        line.connect_to_server()
        lines.append(line)

    page.route_web_socket(re.compile("/ws/"), connect)
    new_chat(page)
    lines[0].close()
    expect(page.locator("#chat")).to_have_attribute("data-connected", "false")
    page.locator("#tools-switch").dispatch_event("click")
    expect(page.locator("#status")).to_have_text("The server cannot be reached; the tools stay as they are.")
    expect(page.locator("#tools-switch")).to_be_checked()
