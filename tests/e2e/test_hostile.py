"""Hostile texts of models, tools, files, names and titles: nothing runs, nothing is fetched, no layout breaks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.hostile_server import TAGS, Evil, evil_server, serving_evil, until_listed
from tests.many_users import crowd
from tests.serving import Site, sign_in
from tests.serving import new_chat as new_conversation
from tests.toolsupport.rendering.test_markdown import HOSTILE

pytestmark = pytest.mark.e2e

OUTSIDE = "http://outside.example/"
SIN = f'<img src={OUTSIDE}a onerror="window.ran=1"><script>window.ran=1</script>'
LINES = [
    SIN,
    f"![picture]({OUTSIDE}b.png)",
    "[click](javascript:window.ran=1)",
    f"<style>body{{display:none;background:url({OUTSIDE}c)}}</style>",
    '<a href="#" onclick="window.ran=1" hx-get="/logout/" hx-trigger="load">x</a>',
    "\u202etxt.exe\u202d\u2066 \x1b[31mred\x1b[0m \x1b]8;;http://outside.example/d\x1b\\link",
    f"| a |\n|---|\n| {'w' * 400} |",
    f"```html\n{SIN}\n```",
    *HOSTILE,
]
FILE = "<img src=x onerror=window.ran=1>.html"
MODEL = "evil-poisoned"
NAMES = [f"<img src={OUTSIDE}e onerror=window.ran=1>", "\u202eelbatsurt", "long" * 40]


@pytest.fixture(scope="module")
def evil() -> Iterator[Evil]:
    with evil_server() as running:
        running.text = "\n\n".join(LINES) + "\n\n" + "x" * 1_000_000
        running.file = FILE
        named = [dict(TAGS["models"][0], name=name, model=name, digest=name) for name in NAMES]
        running.tags = {"models": [*TAGS["models"], *named]}
        yield running


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, evil: Evil) -> Iterator[Site]:
    with serving_evil(tmp_path_factory.mktemp("site"), evil) as running:
        yield running


@pytest.fixture(scope="module")
def conversation(site: Site) -> Iterator[str]:
    """A conversation with a file whose name and text are hostile."""
    with closing(sign_in(site)) as client:
        until_listed(client)
        made = new_conversation(client)
        Path(site.directory, "workspaces", made).mkdir(parents=True, exist_ok=True)
        Path(site.directory, "workspaces", made, FILE).write_text("\n".join(LINES) + "\x1b[2J" + "y" * 200_000)
        yield made


@pytest.fixture
def fetched() -> list[str]:
    return []


@pytest.fixture(params=[1280, 320])
def hostile(open_browser, request: pytest.FixtureRequest, fetched: list[str], conversation: str) -> Page:
    """The conversation in a browser that writes down what it asks for."""
    context: BrowserContext = open_browser(own=True, viewport={"width": request.param, "height": 800})
    context.on("request", lambda asked: fetched.append(asked.url))
    page = context.new_page()
    page.goto(f"/chat/{conversation}/")
    expect(page.locator("#chat")).to_have_attribute("data-connected", "true")
    return page


def expect_harmless(page: Page, site: Site, fetched: list[str]) -> None:
    """No script ran, nothing was asked of anybody else, nothing is wider than the window."""
    assert page.evaluate("window.ran") is None
    strangers = [url for url in fetched if not url.startswith((site.url, site.url.replace("http", "ws"), "data:"))]
    assert strangers == []
    assert page.evaluate("document.scrollingElement.scrollWidth - innerWidth") <= 0
    assert page.locator("body").is_visible()


# SAFETY 1.10
def test_nothing_of_it_runs_or_breaks_the_page(hostile: Page, site: Site, evil: Evil, fetched: list[str]) -> None:
    if MODEL not in hostile.locator("#picker-button").inner_text():
        hostile.keyboard.press("Escape")
        hostile.locator("#picker-button").click()
        hostile.get_by_role("combobox", name="Search models").fill(MODEL)
        hostile.keyboard.press("Enter")
        expect(hostile.locator("#picker-button")).to_contain_text(MODEL)
    hostile.get_by_label("Message", exact=True).fill(SIN)
    hostile.keyboard.press("Enter")
    expect(hostile.locator("#status")).to_contain_text("Done")
    expect(hostile.locator("details.call").last).to_have_attribute("data-status", "done")
    for details in hostile.locator("details.call").all():
        details.locator("summary").first.click()
    expect_harmless(hostile, site, fetched)
    hostile.reload()
    expect(hostile.locator(".message[data-role=assistant]").last).to_be_visible()
    expect_harmless(hostile, site, fetched)
    hostile.emulate_media(media="print")
    expect_harmless(hostile, site, fetched)


COMMANDS = (f"/model <img/src={OUTSIDE}f/onerror=window.ran=1>", f"/search {SIN}", f"/tools {SIN}")


# X4
def test_commands_with_hostile_words_do_nothing_else(hostile: Page, site: Site, fetched: list[str]) -> None:
    hostile.keyboard.press("Escape")
    for command in COMMANDS:
        hostile.get_by_label("Message", exact=True).fill(command)
        hostile.keyboard.press("Enter")
        hostile.evaluate("new Promise(requestAnimationFrame)")
        if command == COMMANDS[0]:  # the last one is sent as a message, whose answer changes the status
            expect(hostile.locator("#status")).to_contain_text("onerror")
        expect_harmless(hostile, site, fetched)


def test_a_shared_conversation_is_as_harmless(open_browser, site: Site, conversation: str, fetched: list[str]) -> None:
    [reader] = crowd(site, 1)
    with closing(sign_in(site)) as ana:
        token = {"X-CSRFToken": ana.cookies["csrftoken"]}
        ana.post(f"/chat/{conversation}/rename/", data={"title": SIN}, headers=token)
        ana.post(f"/chat/{conversation}/readers/", data={"person": reader["name"]}, headers=token)
    context: BrowserContext = open_browser(own=True)
    context.on("request", lambda asked: fetched.append(asked.url))
    context.clear_cookies()
    context.add_cookies([{"name": "sessionid", "value": reader["cookie"], "url": site.url}])
    page = context.new_page()
    for address in ("/shared/", f"/shared/{conversation}/"):
        page.goto(address)
        expect(page.locator("main")).to_contain_text("onerror")
        for media in ("screen", "print"):
            page.emulate_media(media=media)
            for width in (1280, 320):
                page.set_viewport_size({"width": width, "height": 800})
                expect_harmless(page, site, fetched)


@pytest.mark.usefixtures("conversation")
def test_hostile_names_are_text_on_every_page(open_browser, site: Site, fetched: list[str]) -> None:
    context: BrowserContext = open_browser(own=True)
    context.on("request", lambda asked: fetched.append(asked.url))
    page = context.new_page()
    for path in ("/models/", "/servers/", f"/models/?q={quote(SIN)}", "/tools/"):
        page.goto(path)
        for width in (1280, 320):
            page.set_viewport_size({"width": width, "height": 800})
            expect_harmless(page, site, fetched)
            # A long name breaks, and pushes no column of the matrix out of sight.
            for badge in page.locator(".matrix .ev").all()[:1]:
                expect(badge).to_be_in_viewport(ratio=0.9)
