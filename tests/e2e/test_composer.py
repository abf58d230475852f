"""The composer in a browser: attachments, the queued message, slash commands, on a phone too."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.chat.pages.test_images import PNG
from tests.e2e.conftest import answered, ask, choose, new_chat, photograph, ready
from tests.e2e.test_access_for_all import overflow, violations

pytestmark = pytest.mark.e2e
Open = Callable[..., BrowserContext]
FIELD = "#text"

# What decides about a queued message, for each state of the page.
RULES = """async () => {
  const { decide, STALE } = await import("/static/js/queue_rules.js");
  const entry = { text: "x" };
  return [
    [{ entry: null }, "none"],
    [{ entry, running: true }, "wait"],
    [{ entry, running: true, asking: true }, "approval"],
    [{ entry: { ...entry, now: true }, running: true, asking: true }, "wait"],
    [{ entry, ended: "done" }, "send"],
    [{ entry, ended: "empty" }, "send"],
    [{ entry }, "send"],
    ...["failed", "stopped", "interrupted", "limit", "model_changed", "new"].map((ended) => [{ entry, ended }, "hold"]),
    [{ entry: { ...entry, now: true }, ended: "failed" }, "send"],
    [{ entry: { ...entry, held: "why" }, ended: "done" }, "held"],
    [{ entry: { ...entry, held: "why", now: true }, ended: "done" }, "send"],
    [{ entry, ended: "done", age: STALE + 1 }, "hold"],
    [{ entry, ended: "done", running: true, age: STALE + 1 }, "wait"],
  ].filter(([state, act]) => decide(state)[0] !== act).map((found) => JSON.stringify(found));
}"""


def give(page: Page, kind: str, where: str, text: str = "", files: list[str] = []) -> None:  # noqa: B006
    """Paste or drop a text or files, as a browser reports it."""
    page.evaluate(
        """([kind, where, text, files, png]) => {
          const transfer = new DataTransfer();
          if (text) transfer.setData("text/plain", text);
          const type = (name) => (name.endsWith("png") ? "image/png" : "text/csv");
          for (const name of files) transfer.items.add(new File([new Uint8Array(png)], name, { type: type(name) }));
          const event = kind === "paste"
            ? new ClipboardEvent(kind, { bubbles: true, cancelable: true, clipboardData: transfer })
            : new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: transfer });
          document.querySelector(where).dispatchEvent(event);
        }""",
        [kind, where, text, files, list(PNG)],
    )


def queue(page: Page, text: str) -> None:
    page.locator(FIELD).fill(text)
    page.keyboard.press("Enter")
    expect(page.locator("#queued")).to_contain_text(text)


def test_files_are_pasted_dropped_and_removed(open_browser: Open, complaints: list[str]) -> None:
    page = new_chat(open_browser(viewport={"width": 320, "height": 700}).new_page())
    chips = page.locator("#attached .chip")
    give(page, "paste", FIELD, "short text")
    expect(chips).to_have_count(0)
    give(page, "paste", FIELD, "line of a log\n" * 700)
    expect(chips).to_contain_text(["pasted.txt"])
    give(page, "drop", "#transcript", files=["orders.csv", "cat.png"])
    expect(page.locator("#attached .chip[data-state=there]")).to_have_count(3)
    give(page, "drop", "h1", files=["orders.csv"])
    expect(chips.last).to_contain_text("orders.csv already exists")
    expect(page.locator("#status")).to_have_attribute("data-tone", "read")  # shown once, in the chip
    chips.last.get_by_role("button", name="Replace").click()
    expect(chips.last.locator("[data-name]")).to_have_text("orders.csv")
    give(page, "drop", "h1", files=[".toolsupport-part-1"])
    expect(page.locator("#attached .chip[data-state=failed]")).to_be_visible()
    # What was not sent is there after a reload, without the refused one, and can be removed.
    page.reload()
    expect(page.locator("#attached .chip[data-state=there]")).to_have_count(3)
    expect(page.locator("#attached img:not([hidden])")).to_have_attribute("alt", "images/cat.png")
    give(page, "drop", "h1", files=[".toolsupport-part-1"])
    expect(page.locator("#attached .chip[data-state=failed]")).to_be_visible()
    assert "422" in complaints.pop() and "422" in complaints.pop()  # the browser's own line about the refusal
    assert violations(page) == [] and overflow(page) <= 0
    photograph(page, "chips-320")
    for _ in range(2):
        chips.last.get_by_role("button", name=re.compile("^Remove")).click()
    ask(page, "Read these files")
    answered(page)
    expect(chips).to_have_count(0)
    message = page.locator(".message[data-role=user]")
    expect(message.locator("a.chip")).to_have_text(["pasted.txt"])
    expect(message.locator("img")).to_have_count(1)
    page.locator(FIELD).press("ArrowUp")
    expect(page.locator("#editing")).to_be_visible()
    expect(chips).to_have_count(2)


def test_a_folder_is_refused_and_the_file_beside_it_is_attached(page: Page, tmp_path: Path) -> None:
    folder, file = tmp_path / "folder", tmp_path / "orders.csv"
    folder.mkdir()
    file.write_text("a,b")
    devtools = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(folder), str(file)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        devtools.send("Input.dispatchDragEvent", {"type": kind, "x": 640, "y": 300, "data": data})
    expect(page.locator("#attached .chip")).to_have_text([re.compile("orders.csv")])
    expect(page.locator("#attached .chip")).to_have_attribute("data-state", "there")
    expect(page.locator("#status")).to_have_text("A folder cannot be attached. Drop its files instead.")
    page.locator(FIELD).press("Enter")
    expect(page.locator("#status")).to_have_text("Write a message to send with the files.")
    expect(page.locator(".message")).to_have_count(0)


def test_a_chip_and_the_panel_of_files_show_the_same_size(page: Page, tmp_path: Path) -> None:
    sizes = {1: "1 byte", 412: "412 bytes", 1536: "1.5 KiB", 1024 * 1024 - 1: "1 MiB"}
    for size in sizes:
        (tmp_path / f"{size}.txt").write_text("a" * size)
    page.locator("#file").set_input_files([str(tmp_path / f"{size}.txt") for size in sizes])
    expect(page.locator("#attached .chip[data-state=there]")).to_have_count(len(sizes))
    expect(page.locator("#attached [data-note]")).to_have_text([*sizes.values()])
    page.locator("#files-toggle").click()
    for size, words in sizes.items():
        expect(page.locator("#files").get_by_role("listitem").filter(has_text=f"{size}.txt")).to_contain_text(words)


def test_a_queued_message_is_sent_once_from_two_tabs(page: Page) -> None:
    choose(page, "sim-long")
    assert page.evaluate(RULES) == []
    other = page.context.new_page()
    other.goto(page.url)
    ready(other)
    ask(page, "Tell me a long story")
    queue(page, "first thought")
    expect(other.locator("#queued")).to_contain_text("Waits for the answer to end: first thought")
    page.reload()
    ready(page)
    expect(page.locator("#queued")).to_contain_text("first thought")
    other.get_by_role("button", name="Edit", exact=True).click()
    expect(page.locator("#queued")).to_be_hidden()
    expect(other.locator(FIELD)).to_have_value("first thought")
    queue(other, "second thought")
    other.locator(FIELD).fill("third")
    other.keyboard.press("Enter")
    expect(other.locator("#status")).to_contain_text("One message is queued already")
    other.locator(FIELD).fill("")
    page.get_by_role("button", name="Stop").click()
    for tab in (page, other):
        expect(tab.locator("#queued")).to_contain_text("Not sent: the answer was stopped. second thought")
    assert violations(page) == []  # not before: on a busy machine the answer could end
    photograph(page, "queue")
    choose(page, "sim-honest")
    page.get_by_role("button", name="Send", exact=True).first.click()
    for tab in (page, other):
        expect(tab.locator(".message[data-role=user]")).to_have_count(2)
        expect(tab.locator("#queued")).to_be_hidden()
    answered(page)
    choose(page, "sim-thinks")
    ask(page, "What is 17*23?")
    page.locator(FIELD).fill("and 2+2?")
    page.keyboard.press("Enter")
    for tab in (page, other):
        expect(tab.locator(".message[data-role=user]")).to_have_count(4)
    answered(page)
    other.reload()
    expect(other.locator(".message[data-role=user]")).to_have_count(4)


def test_slash_commands_complete_and_paths_are_text(page: Page) -> None:
    field, commands = page.locator(FIELD), page.locator("#commands [role=option]")
    field.press_sequentially("/")
    expect(commands).to_have_count(12)
    help_ = page.locator("#keyboard code").all_text_contents()
    assert help_ == [*commands.locator("code").all_inner_texts(), "//"]
    assert violations(page) == []
    photograph(page, "slash")
    field.press_sequentially("rom")
    expect(commands).to_have_text([re.compile("/prompts")])
    field.fill("/to")
    expect(field).to_have_attribute("aria-activedescendant", "command-0")
    field.press("ArrowDown")
    field.press("ArrowDown")
    field.press("Tab")
    expect(field).to_have_value("/tools off")
    field.press("Enter")
    expect(page.locator("#status")).to_contain_text("Tools are off in this chat.")
    expect(field).to_have_value("")
    field.fill("/hel")
    field.press("Escape")
    expect(commands.first).to_be_hidden()
    for text in ("/etc/hosts is a file", "/model trains are fun", "//usr is short"):
        ask(page, text)
        answered(page)
        expect(page.locator(".message[data-role=user] .bubble").last).to_have_text(text)
    field.fill("/Tools OFF")
    field.press("Enter")
    expect(page.locator("#status")).to_contain_text("Tools are off in this chat.")
    field.fill("/prompts")
    field.press("Enter")
    expect(page.locator("#settings-menu")).to_be_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#settings-menu') !== null")
    page.keyboard.press("Escape")
    field.fill("//help")
    field.press("Enter")
    expect(page.locator(".message[data-role=user] .bubble").last).to_have_text("/help")


# Keys as browsers report them while a person writes with an input method, and the last one as Safari does.
PRESS = """(field, [key, given]) => field.dispatchEvent(
  new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...given }))"""


def test_keys_of_an_input_method_do_nothing_else(page: Page) -> None:
    field, palette = page.locator(FIELD), page.locator("#palette")
    messages = page.locator(".message[data-role=user]")
    for given in ({"isComposing": True}, {"keyCode": 229}):
        field.fill("にほん")
        field.evaluate(PRESS, ["Enter", given])
        page.keyboard.press("Control+k")
        palette.get_by_role("combobox").fill("models")
        palette.get_by_role("combobox").evaluate(PRESS, ["Enter", given])
        expect(palette).to_be_visible()
        page.keyboard.press("Escape")
        page.locator("#picker-button").click()
        search = page.get_by_role("combobox", name="Search models")
        search.fill("sim-thinks")
        search.evaluate(PRESS, ["Enter", given])
        expect(page.locator("#models")).to_be_visible()
        page.keyboard.press("Escape")
    expect(messages).to_have_count(0)
    field.press("Enter")
    expect(messages).to_have_text([re.compile("にほん")])
    expect(page.locator("#picker-button")).to_contain_text("sim-honest")


def as_signed_out(route: Route) -> None:
    """Answer one request as the site answers it without cookies; the page keeps its own, whatever else it asks for."""
    answer = httpx.get(route.request.url, trust_env=False)
    assert "/login/" in answer.headers["location"]
    route.fulfill(status=answer.status_code, headers={"location": answer.headers["location"]})


def test_only_the_answer_is_copied_as_the_answer(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ask(page, "What is 17*23?")
    answered(page)
    page.evaluate("navigator.clipboard.writeText('before')")
    copy = page.locator(".message[data-role=assistant] [data-copy-url]")
    page.route("**/text/", as_signed_out)
    copy.click()
    expect(page.get_by_role("alert")).to_have_text("Nothing was copied. Reload the page and try again.")
    assert page.evaluate("navigator.clipboard.readText()") == "before"
    page.unroute("**/text/", as_signed_out)
    copy.click()
    expect(copy).to_have_attribute("aria-label", "Copied")
    assert "391" in page.evaluate("navigator.clipboard.readText()")
