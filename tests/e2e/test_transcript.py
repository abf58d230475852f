"""The transcript in a browser: calls of one tool together while they run, a long chat in parts, and on paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.conftest import answered, ask, new_chat, photograph
from tests.e2e.test_access_for_all import violations
from tests.e2e.writing_server import MODEL, WritingServer, writing_server
from tests.serving import Site

pytestmark = pytest.mark.e2e
FILES = ["README.md"] * 8 + ["2026-12.csv", "archive.csv"]
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
    with writing_server(texts={"read": "I read **eight** of them."}, reads={"read": FILES}) as server:
        site.manage("add_server", "reader", f"{server.url}/v1", "--kind", "openai")
        site.manage("refresh_models")
        yield server


def test_calls_of_one_tool_a_long_chat_and_paper(
    open_browser: Callable[..., BrowserContext], site: Site, reader: WritingServer
) -> None:
    page = new_chat(open_browser(own=True).new_page(), MODEL)
    site.manage("shell", "-v", "0", "-c", LONG.format(page.url.rstrip("/").rpartition("/")[2]))
    page.reload()
    messages, earlier = page.locator(".message"), page.get_by_role("button", name="Show earlier messages")
    expect(messages).to_have_count(50)
    expect(messages.first).to_contain_text("user 35")
    # The next part comes before it; the reader stays at the same message.
    earlier.press("Enter")
    expect(messages).to_have_count(100)
    expect(messages.first).to_contain_text("user 10")

    ask(page, "read")
    answered(page)
    expect(messages).to_have_count(103)
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

    page.emulate_media(media="print")
    for aside in (".dock", ".chat-head > button", ".after", "#sidebar", ".topbar", "#earlier"):
        assert page.locator(aside).filter(visible=True).count() == 0, aside
    # All calls with their results, and all of the text.
    expect(visible).to_have_count(10)
    expect(messages.first).to_be_visible()
    expect(page.get_by_text("I read eight of them.")).to_be_visible()
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
