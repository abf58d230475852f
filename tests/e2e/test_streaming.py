"""An answer grows block by block: nothing jumps at its end, a selection stays, and no frame costs much."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, Route, WebSocketRoute, expect

from tests.e2e.conftest import PATIENCE, answered, ask, new_chat, ready, until
from tests.e2e.writing_server import MODEL, WritingServer, known_to, writing_server
from tests.serving import Site

pytestmark = pytest.mark.e2e

BEGINNING = """# Sorting

Some **bold** words, a `name` and a [link](https://example.org) in the first paragraph.

1. First:

   ```bash
   pip install thing
   ```

2. Then **run** it

- [ ] to do
- [x] done
  - nested

| Name | Size |
|------|-----:|
| one  | 1    |

> A quote with *emphasis*.

"""
CODE = "```python\nx = [1, 2]\n\n\nprint(x)\n"
END = "```\n\nمرحبا بالعالم\n\n## The end\n\nThe **last** words"
HOSTILE = "<img src=x onerror=alert(1)> **<b>x</b>** [y](javascript:alert(1)) $\\text{<script>}$"
BIG = "\n\n".join(f"## Part {n}\n\n{'Some words of a long answer. ' * 30}\n\n- one\n- two" for n in range(225))
LONG = "‖".join("Some words of a long answer.\n\n" * 30 for _ in range(3))
# Tags and heights of what stands in an answer.
MARKS = "One 1.\n\n1. two\n2. three\n10) four\n- five\n- [ ] six\n## Seven\n> eight\n```\n1.\n```\nNine"
SHAPE = """() => [...[...document.querySelectorAll('.message[data-role=assistant] > .prose')].pop().children]
    .map((one) => [one.localName, Math.round(one.getBoundingClientRect().height)])"""
AT_END = "document.scrollingElement.scrollHeight - innerHeight - scrollY < 2"
GROWING = ".message[data-role=assistant][data-finished=false] [data-blocks]"


@pytest.fixture(scope="module")
def writer(site: Site) -> Iterator[WritingServer]:
    texts = {"write": f"{BEGINNING}{CODE}‖{END}‖", "attack": f"{HOSTILE}\n\n{HOSTILE}‖", "big": BIG, "long": LONG}
    with writing_server(texts=texts) as server, known_to(site, "pen", server):
        yield server


@pytest.fixture
def chat(open_browser: object, writer: WritingServer) -> Page:
    """A chat with the model of that server, which waits whatever the test before let it do."""
    writer.hold()
    context: BrowserContext = open_browser(own=True)  # type: ignore[operator]
    return new_chat(context.new_page(), MODEL)


def test_blocks_stay_as_they_came(chat: Page, writer: WritingServer) -> None:
    ask(chat, "write")
    growing = chat.locator(GROWING)
    # A code box stands there from its opening fence on, with its language and its buttons.
    box = growing.locator("figure[data-writing]")
    expect(box).to_contain_text("print(x)")
    expect(box.locator("figcaption")).to_have_text("pythonWrapCopy")
    # Blocks before it are the server's: links work there, and code has its colors.
    expect(growing.get_by_role("link", name="link")).to_have_attribute("rel", "noopener noreferrer nofollow")
    expect(growing.get_by_role("checkbox", name="done")).to_be_checked()
    # The browser moves a page whose end comes nearer for a moment, as a reader would; the page goes on to the end.
    until(chat, AT_END)
    chat.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    until(chat, AT_END)
    chat.evaluate("document.querySelector('[data-blocks] > p').first = true")
    chat.evaluate("getSelection().selectAllChildren(document.querySelector('[data-blocks] > p'))")
    writer.go_on()
    expect(growing.locator("strong", has_text="last")).to_be_visible()
    expect(growing.locator(".k, .nb").first).to_be_visible()
    live = chat.evaluate(SHAPE)
    writer.go_on()
    answered(chat)
    assert chat.evaluate(SHAPE) == live
    assert chat.evaluate("document.querySelector('.message .prose > p').first") is True
    assert chat.evaluate("String(getSelection())").startswith("Some bold words")
    shown = chat.locator(".prose").last.inner_html()
    chat.reload()
    assert chat.locator(".prose").last.inner_html() == shown


def test_a_second_tab_and_a_reload_get_the_same_blocks(chat: Page, writer: WritingServer) -> None:
    ask(chat, "write")
    expect(chat.locator(GROWING).get_by_role("link", name="link")).to_be_visible()
    other = chat.context.new_page()
    other.goto(chat.url)
    expect(other.locator(GROWING).get_by_role("link", name="link")).to_be_visible()
    expect(other.locator(f"{GROWING} figure[data-writing]")).to_contain_text("print(x)")
    assert other.evaluate(SHAPE) == chat.evaluate(SHAPE)
    writer.go_on()
    writer.go_on()
    for page in (chat, other):
        answered(page)
    assert other.locator(".prose").last.inner_html() == chat.locator(".prose").last.inner_html()


def test_an_answer_that_ended_in_a_gap_is_reported_as_done(chat: Page, writer: WritingServer) -> None:
    ask(chat, "write")
    expect(chat.locator("#status")).to_contain_text("Answering")
    held: list[Route] = []
    chat.route("**/messages/?*", lambda route: held.append(route))
    chat.evaluate("document.getElementById('transcript').dataset.tail = -9")  # the page missed frames
    with chat.expect_request("**/messages/?*"):
        writer.go_on()
        writer.go_on()
    ends = time.monotonic() + PATIENCE / 1000
    while 'aria-busy="true"' in chat.context.request.get(f"{chat.url}messages/").text():
        assert time.monotonic() < ends, "the answer does not end"
    held[0].continue_()
    answered(chat)
    expect(chat.locator("#status")).to_have_text(re.compile(r"^Done, \d+ words$"))


def test_following_stops_when_the_reader_scrolls_up(chat: Page, writer: WritingServer) -> None:
    chat.set_viewport_size({"width": 900, "height": 420})
    ask(chat, "long")
    until(chat, f"scrollY > 100 && {AT_END}")
    chat.mouse.move(450, 150)
    chat.mouse.wheel(0, -5000)
    until(chat, "scrollY < 50")
    writer.go_on()
    expect(chat.get_by_role("button", name="New text")).to_be_visible()
    assert chat.evaluate("scrollY") < 50
    chat.get_by_role("button", name="New text").click()
    until(chat, "document.scrollingElement.scrollHeight - scrollY - innerHeight < 60")
    chat.keyboard.press("Escape")
    expect(chat.locator("[data-ended=stopped]")).to_be_visible()
    writer.go_on()  # the server still waits for it, and would take that of the next test


def test_an_answer_whose_formatting_was_not_ready_is_formatted_soon(
    site: Site, chat: Page, writer: WritingServer
) -> None:
    ask(chat, "write")
    expect(chat.locator(GROWING).get_by_role("link", name="link")).to_be_visible()
    stopped = formatters(site)
    assert stopped
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)  # the site ends them when they do not reply
    with chat.expect_request("**/messages/?*"):  # it ended unformatted, so the page asks again
        writer.go_on()
        writer.go_on()
    answered(chat)
    expect(chat.locator(".prose").last.locator("strong", has_text="last")).to_be_visible()
    expect(chat.locator("#status")).to_have_text(re.compile(r"^Done, \d+ words$"))


def formatters(site: Site) -> list[int]:
    """The worker processes of a site."""
    assert site.process
    found = []
    for task in Path(f"/proc/{site.process.pid}/task").glob("*/children"):
        found += [int(pid) for pid in task.read_text().split()]
    return [pid for pid in found if b"work_pool" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_markup_of_a_model_stays_text_in_the_live_block(chat: Page, writer: WritingServer) -> None:
    ask(chat, "attack")
    expect(chat.locator(GROWING)).to_contain_text("<script>")
    for _ in range(2):
        assert chat.locator(".prose :is(img, script, b)").count() == 0
        assert chat.locator(".prose [href^=javascript]").count() == 0
        writer.go_on()
    answered(chat)
    assert chat.locator(".prose :is(img, script, b)").count() == 0


def test_a_long_answer_costs_little_for_each_frame(chat: Page) -> None:
    chat.evaluate(
        "window.longest = 0; window.shifted = 0; new PerformanceObserver((list) => {"
        " for (const { duration } of list.getEntries()) longest = Math.max(longest, duration) })"
        ".observe({ type: 'longtask' });"
        "new PerformanceObserver((list) => { for (const { value } of list.getEntries()) shifted += value })"
        ".observe({ type: 'layout-shift' })"
    )
    ask(chat, "big")
    answered(chat)
    assert len(BIG) > 200_000
    assert chat.locator(".prose").last.locator("> *").count() == 225 * 3
    # Mostly painting; 300 ms on a machine with much other work. All of the text in one frame took seconds.
    assert chat.evaluate("longest") < 1_500
    assert chat.evaluate("shifted") < 0.05
    # Blocks out of sight are not drawn: otherwise the styles of all of them are computed again with each new block.
    item = "document.querySelector('.prose > ul > li')"
    assert chat.evaluate(f"{item}.checkVisibility({{ contentVisibilityAuto: true }})") is False
    chat.evaluate(f"{item}.scrollIntoView()")
    until(chat, f"{item}.checkVisibility({{ contentVisibilityAuto: true }})")


def test_the_beginning_of_a_mark_is_never_text(chat: Page) -> None:
    seen, last = chat.evaluate(
        """async (text) => {
  const { growing } = await import("/static/js/blocks.js");
  const place = document.body.appendChild(document.createElement("div")), answer = growing(place), seen = [];
  for (const sign of text) {
    answer.append(sign);
    await new Promise((end) => requestAnimationFrame(() => requestAnimationFrame(end)));
    seen.push(...[...place.querySelectorAll("p, li, h1, h2, h3, h4")].map((one) => one.textContent.trim()));
  }
  return [seen, place.textContent];
}""",
        MARKS,
    )
    shown = {text for text in seen if re.search(r"[^\w ]|\d", text)}
    assert shown == {"One 1", "One 1."}
    assert re.sub(r"\s+", " ", last).endswith("1. Nine")


def test_blocks_that_come_together_are_added_together(chat: Page) -> None:
    added, shown = chat.evaluate(
        """async () => {
  const { growing } = await import("/static/js/blocks.js");
  const place = document.body.appendChild(document.createElement("div")), answer = growing(place);
  let added = 0;
  new MutationObserver((changes) => { added += changes.length; }).observe(place, { childList: true });
  const blocks = Array.from({ length: 400 }, (_, number) => `Block ${number}\n\n`);
  answer.append(blocks.join(""));
  await new Promise(requestAnimationFrame);
  let start = 0;
  for (const block of blocks) {
    answer.block({ start, end: start + block.length, html: `<p>${block.trim()}</p>` });
    start += block.length;
  }
  await new Promise((end) => requestAnimationFrame(() => requestAnimationFrame(end)));
  return [added, [...place.children].map((one) => one.textContent).join(" ")];
}"""
    )
    assert shown == " ".join(f"Block {number}" for number in range(400))
    # Each block is written, taken away and added as HTML once. One by one these would be 80,000 changes.
    assert added < 2_000


def test_a_queued_message_that_left_while_it_was_sent_holds_up_no_other(chat: Page, writer: WritingServer) -> None:
    def connect(line: WebSocketRoute) -> None:
        server = line.connect_to_server()
        line.on_message(lambda text: None if "never arrives" in str(text) else server.send(text))

    chat.route_web_socket(re.compile("/ws/"), connect)
    chat.reload()
    ready(chat)
    queued = chat.locator("#queued")
    for text in ("never arrives", "the next one"):
        ask(chat, "write")
        chat.get_by_label("Message", exact=True).fill(text)
        chat.keyboard.press("Enter")
        expect(queued).to_contain_text(f"Waits for the answer to end: {text}")
        for _ in range(2):
            writer.go_on()
        if text == "never arrives":
            expect(queued).to_contain_text("Sending: never arrives")
            queued.get_by_role("button", name="Remove").click()
    expect(queued).to_be_hidden()
    expect(chat.locator(".message[data-role=user]").last).to_contain_text("the next one")
    answered(chat)
