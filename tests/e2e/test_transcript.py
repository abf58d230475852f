"""The transcript in a browser: calls of one tool together while they run, a long chat in parts, and on paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, Request, Route, WebSocketRoute, expect

from tests.e2e.conftest import answered, ask, new_chat, photograph, ready
from tests.e2e.test_access_for_all import violations
from tests.e2e.writing_server import MODEL, WritingServer, known_to, writing_server
from tests.serving import Site

pytestmark = pytest.mark.e2e
FILES = [f"2026-{month}.csv" for month in range(1, 9)]
KNOWN = f"""from tests.factories import OverrideFactory
from toolsupport.models import ModelProfile
OverrideFactory(profile=ModelProfile.objects.get(name="{MODEL}", server__name="reader"))
"""
# 120 messages before the next one, as old chats have them.
LONG = """from chat.models import Conversation, Message
chat = Conversation.objects.get(pk="{}")
for number in range(60):
    for role in ("user", "assistant"):
        text = f"{{role}} {{number}}"
        chat.leaf = Message.objects.create(conversation=chat, parent=chat.leaf, role=role, content=text)
chat.save()
"""


@pytest.fixture(scope="module")
def reader(site: Site) -> Iterator[WritingServer]:
    texts, reads = {"read": "I read **eight** of them."}, {"read": [*FILES, "2026-12.csv", "archive.csv"]}
    with writing_server(texts=texts, reads=reads) as server, known_to(site, "reader", server):
        site.manage("shell", "--no-imports", "-c", KNOWN)
        yield server


# The most rows of calls that a reader saw at once outside of a group.
MOST = """window.most = 0; new MutationObserver(() => { window.most = Math.max(window.most,
  [...document.querySelectorAll(".call:not(.call-group, .call-group *)")].filter((row) => row.checkVisibility()).length)
}).observe(document.getElementById("transcript"), { subtree: true, childList: true })"""


def upload(page: Page) -> None:
    token = next(one["value"] for one in page.context.cookies() if one["name"] == "csrftoken")
    for name in FILES:
        given = {"name": name, "mimeType": "text/csv", "buffer": b"1,2"}
        page.context.request.post(f"{page.url}files/", headers={"X-CSRFToken": token}, multipart={"files": given})  # type: ignore[dict-item]


def on_paper(page: Page) -> None:
    page.emulate_media(media="print")
    for aside in (".dock", ".chat-head > button", ".after", "#sidebar", ".topbar", "#earlier"):
        assert page.locator(aside).filter(visible=True).count() == 0, aside
    # All calls with their results, and all of the text.
    expect(page.locator(".call-group .calls > .call").filter(visible=True)).to_have_count(10)
    expect(page.locator(".message").first).to_be_visible()
    expect(page.get_by_text("I read eight of them.")).to_be_visible()
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0


def test_calls_of_one_tool_a_long_chat_and_paper(
    open_browser: Callable[..., BrowserContext], site: Site, reader: WritingServer
) -> None:
    page = new_chat(open_browser(own=True).new_page(), MODEL)
    site.manage("shell", "--no-imports", "-c", LONG.format(page.url.rstrip("/").rpartition("/")[2]))
    upload(page)
    page.reload()
    messages, earlier = page.locator(".message"), page.get_by_role("button", name="Show earlier messages")
    expect(messages).to_have_count(50)
    expect(messages.first).to_contain_text("user 35")
    # The next part comes before it; the reader stays at the same message.
    earlier.press("Enter")
    expect(messages).to_have_count(100)
    expect(messages.first).to_contain_text("user 10")

    page.evaluate(MOST)
    ask(page, "read")
    answered(page)
    expect(messages).to_have_count(103)
    assert page.evaluate("window.most") == 2  # from the third call on they are one row
    group = page.locator(".call-group")
    expect(group.locator("> summary")).to_contain_text("Read 8 of 10 files · 2 failed")
    visible = group.locator(".calls > .call").filter(visible=True)
    expect(visible).to_have_count(2)
    expect(visible.first).to_contain_text("Could not read")
    more = group.get_by_text("Show 8 more that worked")
    more.press("Enter")
    expect(visible).to_have_count(10)
    more.press("Enter")
    live = group.inner_text()
    assert violations(page) == []
    photograph(page, "call-group")
    page.reload()
    expect(group.locator("> summary")).to_contain_text("Read 8 of 10 files · 2 failed")
    assert group.inner_text() == live

    on_paper(page)


def catches_up(request: Request) -> bool:
    """Whether a page fetches its present transcript: the earlier part of one has an end too."""
    return "/messages/?since=" in request.url and "until=" not in request.url


def test_earlier_messages_that_come_while_the_page_catches_up_stay(
    open_browser: Callable[..., BrowserContext], site: Site
) -> None:
    page = new_chat(open_browser(own=True).new_page())
    site.manage("shell", "--no-imports", "-c", LONG.format(page.url.rstrip("/").rpartition("/")[2]))
    page.reload()
    ready(page)
    messages = page.locator(".message")
    expect(messages).to_have_count(50)
    held: list[Route] = []

    def hold(route: Route) -> None:
        if held or not catches_up(route.request):
            return route.continue_()
        held.append(route)

    page.route("**/messages/?*", hold)
    # The page missed frames, and the transcript that it fetches takes long.
    page.evaluate("document.getElementById('transcript').dataset.tail = -9")
    with page.expect_request(catches_up):
        page.get_by_label("Message", exact=True).fill("Hello")
        page.keyboard.press("Enter")
    page.get_by_role("button", name="Show earlier messages").press("Enter")
    expect(messages).to_have_count(100)
    held[0].continue_()
    expect(messages).to_have_count(102)
    answered(page)
    expect(messages.first).to_contain_text("user 10")


# C2: a phone that wakes up has its socket again before the rest of the network.
@pytest.mark.parametrize("fault", [0, 502, 200])  # with 200 a proxy's own page comes
def test_what_was_missed_comes_though_the_first_fetches_of_it_fail(
    open_browser: Callable[..., BrowserContext], complaints: list[str], fault: int
) -> None:
    other = new_chat(open_browser(own=True).new_page())
    page = other.context.new_page()
    lost, failed = [False], list[Route]()

    def connect(line: WebSocketRoute) -> None:
        server = line.connect_to_server()
        server.on_message(lambda text: None if lost[0] else line.send(text))

    def fail(route: Route) -> None:
        failed.append(route)
        route.fulfill(status=fault, body="Busy") if fault else route.abort("connectionrefused")

    page.route_web_socket(re.compile("/ws/"), connect)
    page.goto(other.url)
    ready(page)
    page.route("**/messages/**", fail)
    for text, lost[0] in (("What is 17*23?", True), ("What is 5*5?", False)):
        ask(other, text)
        answered(other)
    expect(page.locator("#offline")).to_contain_text("Reconnecting")
    assert failed
    page.unroute("**/messages/**")
    expect(page.locator(".message[data-role=user]")).to_have_count(2)
    answered(page)
    expect(page.locator("#offline")).to_be_hidden()
    complaints[:] = [words for words in complaints if not re.search("status of 502", words)]


def test_a_chat_that_another_tab_deleted_keeps_what_was_typed(
    open_browser: Callable[..., BrowserContext], complaints: list[str]
) -> None:
    page = new_chat(open_browser().new_page())
    other = page.context.new_page()
    other.goto(page.url)
    ready(other)
    field = other.get_by_label("Message", exact=True)
    field.fill("a long thought")
    token = next(one["value"] for one in page.context.cookies() if one["name"] == "csrftoken")
    assert page.context.request.post(f"{page.url}delete/", headers={"X-CSRFToken": token}).ok
    # At once, not only when something is sent.
    expect(other.locator("#offline")).to_contain_text("This chat was deleted on another page.")
    # The browser's own line about the page that is gone.
    with other.expect_event("console", lambda line: "404" in line.text):
        field.press("Enter")
    expect(field).to_have_value("a long thought")
    expect(field).to_be_editable()
    assert all("404" in line for line in complaints)
    complaints.clear()
