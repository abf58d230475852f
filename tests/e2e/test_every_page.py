"""Every page in Chromium: axe, zoom, small screens, right to left, targets, names, focus, motion."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import APIRequestContext, BrowserContext, FilePayload, Page, expect

from tests.e2e.conftest import answered, ask, new_chat, settled
from tests.e2e.test_access_for_all import FAULTS, STOP, stops, violations

pytestmark = pytest.mark.e2e

# Half of 1280 is what is left at 200 %, a quarter at 400 %.
WIDE, ZOOMED, SMALL = 1280, 640, 320
PAGES = (
    *("/start/", "/models/", "/models/1/", "/models/1/explain/", "/models/import/", "/models/add/", "/models/edit/"),
    *("/families/", "/families/add/", "/history/", "/history/?show=all", "/insights/", "/tools/", "/tools/mcp/"),
    *("/tools/prompts/", "/tools/sources/", "/servers/", "/servers/1/", "/people/", "/people/audit/", "/account/"),
    *("/account/code/", "/shared/", "/others/", "/quotas/", "/backup/", "/exams/", "/models/1/validate/"),
    *("/detections/1/", "/exams/1/"),
)
MAIN_PAGES = (
    *("/start/", "/models/", "/models/1/", "/history/?show=all", "/insights/", "/tools/", "/tools/mcp/", "/servers/"),
    *("/exams/", "/people/", "/account/", "/shared/"),
)
OPEN = "document.querySelectorAll('main details').forEach(one => one.open = true)"


def faults(page: Page, widths: tuple[int, ...] = (WIDE, ZOOMED, SMALL)) -> Iterator[str]:
    """What is wrong with a page, by width and direction; it is left as it was."""
    for width in widths:
        page.set_viewport_size({"width": width, "height": 800})
        for direction in ("ltr", "rtl") if width != ZOOMED else ("ltr",):
            page.evaluate("direction => document.documentElement.dir = direction", direction)
            found = page.evaluate(FAULTS, {"controlsToo": direction == "ltr" and width != ZOOMED})
            yield from (f"{width} px, {direction}: {fault}" for fault in found)
    page.evaluate("document.documentElement.removeAttribute('dir')")
    page.set_viewport_size({"width": WIDE, "height": 800})


def looked_at(page: Page, address: str) -> list[str]:
    """Open a page, unfold it, and measure it."""
    page.goto(address)
    page.evaluate(OPEN)
    settled(page)
    return [f"{address} {fault}" for fault in (*faults(page), *violations(page))]


def fill(request: APIRequestContext, token: str) -> None:
    """Something on every page."""
    forms: tuple[tuple[str, dict[str, str | float | bool]], ...] = (
        ("/models/1/capability/", {"capability": "vision", "value": "yes", "reason": "seen", "newest": "0"}),
        ("/tools/prompts/write/", {"name": "walker", "description": "For walks", "text": "Walk."}),
        ("/tools/sources/example/", {}),
        ("/account/keys/", {"name": "walker", "scopes": "chat"}),
        ("/people/invite/", {"name": "walker", "role": "user"}),
        ("/quotas/save/", {"subject": "role:user", "requests_day": "100", "tokens_day": "100000"}),
        ("/backup/make/", {}),
        ("/models/1/detect/", {}),
        ("/models/1/validate/", {"suite": "quick"}),
    )
    for address, form in forms:
        assert request.post(address, form=form, headers={"X-CSRFToken": token}).ok
    case = {"id": "one", "messages": [{"role": "user", "content": "Hi"}], "tools": [], "recorded": [], "expected": []}
    exam = json.dumps({"name": "Walked through", "cases": [case]}).encode()
    sent = FilePayload(name="exam.json", mimeType="application/json", buffer=exam)
    assert request.post("/exams/import/", multipart={"file": sent}, headers={"X-CSRFToken": token}).ok


def test_a_fault_is_found(open_browser: Callable[..., BrowserContext]) -> None:
    page = open_browser().new_page()
    page.goto("/shared/")
    page.evaluate(
        "document.querySelector('main').insertAdjacentHTML('beforeend',"
        " '<p id=one>One text</p><p id=two>Another text</p><div><button id=tiny aria-label=Send>Go</button>"
        "<button id=near tabindex=-1>Near</button></div>"
        "<div id=box><table id=days role=table><thead role=rowgroup><tr role=row><th role=columnheader>Day</th></tr>"
        "</thead><tbody role=rowgroup><tr><td role=cell data-label=Hour>1</td></tr></tbody></table></div>')"
    )
    tiny = "min-height:0;height:16px;width:16px;padding:0;margin:0;outline:none;font-size:60px;overflow:hidden"
    styles = {"one": "position:absolute", "two": "white-space:nowrap;padding-right:700px", "tiny": tiny, "near": tiny}
    styles |= {"box": "width:50px;overflow:auto", "days": "min-width:200px"}
    for one, style in styles.items():
        page.evaluate("([id, style]) => document.getElementById(id).style = style", [one, style])
    found = "\n".join(faults(page, (SMALL,)))
    for words in (
        *("wider than the screen", "lies over", "is cut off", "16×16 px", "not in the name", "no key reaches"),
        *("not seen", "“Day” is 150 px wider than its box", "table “Day” has no role", "label Hour for Day"),
    ):
        assert words in found, words


def test_no_page_has_a_fault(open_browser: Callable[..., BrowserContext], complaints: list[str]) -> None:
    context = open_browser()
    page = new_chat(context.new_page())
    fill(context.request, next(one["value"] for one in context.cookies() if one["name"] == "csrftoken"))
    for text in ("Read config.json and tell me the version", "show me a table"):
        ask(page, text)
        answered(page)
    page.locator(".call > summary").first.click()
    expect(page.locator(".call-body")).to_be_visible()
    found = [f"chat {fault}" for fault in faults(page)]
    for address in ("/models/1/", "/exams/1/"):  # what was begun ends, so that results are measured too
        page.goto(address)
        expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    for address in PAGES:
        found += looked_at(page, address)
    assert complaints == []
    found += looked_at(page, "/no-such-page/")
    complaints.clear()  # the browser reports that page
    context.clear_cookies()
    found += looked_at(page, "/login/")
    assert found == []


# WCAG 2.4.11
@pytest.mark.parametrize("width", [320, 1280])
def test_no_focus_hides_below_fixed_parts_of_a_table(open_browser: Callable[..., BrowserContext], width: int) -> None:
    page = open_browser(viewport={"width": width, "height": 600}).new_page()
    page.goto("/models/?show=all")
    settled(page)
    cells = page.locator(".matrix tbody :is(a, button)")
    assert cells.count() > 60
    for key, begin in (("Shift+Tab", cells.last), ("Tab", cells.first)):
        begin.focus()
        for _ in range(50):
            page.keyboard.press(key)
            here = page.evaluate(STOP)
            assert here is not None and not here["wrong"], (key, here)


# WCAG 1.4.4, 2.4.11
def test_drawers_take_the_focus_and_dialogs_fit_at_twice_the_size(open_browser: Callable[..., BrowserContext]) -> None:
    page = new_chat(open_browser(viewport={"width": 640, "height": 400}).new_page())
    for button, drawer in (("#files-toggle", "#panel"), ("[popovertarget=sidebar]", "#sidebar")):
        page.locator(button).focus()
        page.keyboard.press("Enter")
        expect(page.locator(drawer)).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.locator(button)).to_be_focused()
    for key, dialog in (("?", "#keyboard"), ("m", "#models")):
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press(key)
        expect(page.locator(dialog)).to_be_visible()
        assert page.locator(dialog).evaluate("one => one.getBoundingClientRect().bottom <= innerHeight"), dialog
        page.keyboard.press("Escape")
        expect(page.locator(dialog)).to_be_hidden()


# WCAG 1.4.4, 2.4.11, 2.5.8: 1280 × 800 and 1024 × 768 at 200 %
@pytest.mark.parametrize(("width", "height"), [(640, 400), (512, 384)])
def test_pages_hold_twice_the_size(open_browser: Callable[..., BrowserContext], width: int, height: int) -> None:
    page = new_chat(open_browser(viewport={"width": width, "height": height}).new_page())
    ask(page, "Read config.json and tell me the version")
    answered(page)
    page.locator(".call > summary").first.click()
    metrics = {"width": width, "height": height, "deviceScaleFactor": 2, "mobile": False}
    page.context.new_cdp_session(page).send("Emulation.setDeviceMetricsOverride", metrics)
    found = []
    for address in (page.url, *MAIN_PAGES):
        page.goto(address)
        settled(page)
        assert page.evaluate("[devicePixelRatio, innerWidth]") == [2, width]
        found += [f"{address} {fault}" for fault in page.evaluate(FAULTS, {"controlsToo": True})]
        page.locator(".skip").focus()
        found += [f"{address} {one['name']} is {one['wrong']}" for one in stops(page, "Tab") if one["wrong"]]
    assert found == []


@pytest.mark.parametrize("width", [320, 1280])
def test_a_part_that_is_replaced_stays_where_it_is(open_browser: Callable[..., BrowserContext], width: int) -> None:
    page = open_browser(viewport={"width": width, "height": 500}).new_page()
    page.goto("/tools/")
    settled(page)
    switch = page.locator("#switch-write_file")
    switch.evaluate("one => one.scrollIntoView({ block: 'center' })")
    place = switch.bounding_box()
    assert page.evaluate("scrollY") > 0 and place
    for on in (False, True):
        with page.expect_response("**/tools/switch/"):
            switch.press("Space")
        expect(page.get_by_role("status").filter(has_text="Saved")).to_be_visible()
        expect(switch).to_be_checked(checked=on)
        expect(switch).to_be_focused()
        now = switch.bounding_box()
        assert now and abs(now["y"] - place["y"]) < 30, (place, now)


# Each mark, and what makes another state of it.
MARKS = {
    "<span class=g data-g=unknown></span>": "hidden = true",
    "<progress max=2 value=1></progress>": "value = 2",
    "<input type=checkbox class=switch>": "checked = true",
    "<span class=dots><i></i></span>": "firstChild.hidden = true",
    "<span class=answer-state data-answer='new answer'></span>": "dataset.answer = 'answering'",
    "<svg class=bar data-ev=proven viewBox='0 0 9 8'><rect width=4 height=8 /></svg>": "firstChild.remove()",
    "<svg class=stackbar viewBox='0 0 9 1'><rect data-ev=proven width=4 height=1 /></svg>": "firstChild.remove()",
    "<span class=ev data-ev=claimed>A</span>": "dataset.ev = 'proven'",
    "<a class=tile data-ev=claimed>A</a>": "dataset.ev = 'proven'",
    "<span class=tag>A</span>": "className = ''",
    "<p data-active>A</p>": "removeAttribute('data-active')",
    "<div class=composer><textarea></textarea></div>": "firstChild.focus()",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_forced_colours_leave_each_mark_its_states(open_browser: Callable[..., BrowserContext], scheme: str) -> None:
    page = open_browser(forced_colors="active", color_scheme=scheme).new_page()
    page.goto("/shared/")
    main = page.locator("main")
    same = []
    for mark, change in MARKS.items():
        main.evaluate("(main, mark) => { main.innerHTML = mark; }", mark)
        before = main.screenshot()
        main.evaluate(f"main => {{ main.firstChild.{change}; }}")
        same += [mark] if main.screenshot() == before else []
    assert same == []
