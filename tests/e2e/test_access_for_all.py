"""The pages without a mouse, with a screen reader, on small screens, in both themes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, ViewportSize, expect

from tests.e2e.conftest import answered, ask, new_chat, ready, settled

pytestmark = pytest.mark.e2e

Open = Callable[..., BrowserContext]
SMALL: ViewportSize = {"width": 320, "height": 640}
# A theme changes nothing but colours: the rules about them are asked in both.
THEMES: dict[str, dict[str, Any]] = {
    "dark": {"runOnly": ["color-contrast", "link-in-text-block"]},
    "light": {},
}


# Styles are not fetched for it once more: only rules that are off need them.
OPTIONS = {"resultTypes": ["violations"], "preload": False}
# Of siblings that differ in texts, names and addresses alone, as rows of a table do, three are looked at: a fourth
# would have the same faults. An empty text or value counts as another structure, and so does another value of an
# attribute that a style sheet or a rule asks for.
RUN = """options => {
  const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules].map(({ cssText }) => cssText));
  const styled = new Set(rules.join().match(/(?<=\\[)[\\w-]+/g));
  const states = /^(class|style|type|role|dir|lang|hidden|inert|open|disabled|checked|tabindex|scope|aria-.*)$/;
  const ids = /^aria-(labelledby|describedby|controls|owns|details|errormessage|label|activedescendant)$/;
  const text = (node) => (node.data.trim() ? "#" : "");
  const attribute = ({ name, value }) =>
    `${name}=${(states.test(name) || styled.has(name)) && !ids.test(name) ? value : value.trim() !== ""}`;
  const more = [];
  const structure = (one) => {
    const met = new Map();
    const inner = [...one.childNodes].map((node) => {
      if (node.nodeType !== 1) return node.nodeType === 3 ? text(node) : "";
      const found = structure(node);
      met.set(found, (met.get(found) ?? 0) + 1);
      if (met.get(found) > 3) more.push(node);
      return found;
    });
    return `<${one.localName} ${[...one.attributes].map(attribute).sort()}>${inner.join("")}</>`;
  };
  structure(document.body);
  return axeRun({ include: [document], exclude: more }, options).then(
    ([violations, paints]) => [violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), paints]);
}"""
FAULTS = re.sub(r"^//.*\n", "", (Path(__file__).parent / "page_faults.js").read_text())
CONTRAST = re.sub(r"^//.*\n", "", (Path(__file__).parent / "contrast.js").read_text())
PASSED: set[str] = set()  # what texts with enough contrast were painted like, on all pages so far


# Where the focus is: its place among all elements, its name, and if it is out of sight, covered, or without a ring.
STOP = """() => {
  const one = document.activeElement, box = one.getBoundingClientRect();
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  if (one === document.body) return null;
  const near = (at, most) => Math.min(most - 1, Math.max(0, at));
  const [x, y] = [near(box.x + box.width / 2, innerWidth), near(box.y + box.height / 2, innerHeight)];
  const top = document.elementFromPoint(x, y);
  const ring = one.closest(".composer, .palette-field") || (outlineStyle !== "none" && parseFloat(outlineWidth) > 0);
  const wrong = [
    box.bottom <= 0 || box.top >= innerHeight ? "out of sight" : "", ring ? "" : "no ring",
    top && (one.contains(top) || top.contains(one)) ? "" : "covered",
  ].filter(Boolean).join();
  const name = one.ariaLabel || one.labels?.[0]?.innerText || one.innerText || one.id;
  return { place: [...document.querySelectorAll("*")].indexOf(one), name: name.replace(/\\s+/g, " "), wrong };
}"""
MOST_STOPS = 150
NAMED = (
    *("button", "link", "switch", "checkbox", "textbox", "searchbox", "combobox", "option", "image", "progressbar"),
    *("meter", "region", "navigation", "dialog", "listbox", "log", "heading"),
)


def violations(page: Page, themes: Iterable[str] = THEMES) -> list[str]:
    """What axe finds in both themes, in words; leaves the page in the light one."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
        page.evaluate(CONTRAST, sorted(PASSED))
    found: list[str] = []
    for theme in themes:
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        broken: list[tuple[str, list[str]]]
        broken, paints = page.evaluate(RUN, {**OPTIONS, **THEMES[theme]})
        PASSED.update(paints)
        found += [f"{rule}, {theme}: {html[:160]}" for rule, nodes in broken for html in nodes]
    return found


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than the screen."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def faults_at_each_width(page: Page) -> list[str]:
    """What axe finds, what leaves the screen and what lies over it, on a phone and on a wide screen, which stays.

    Colours are the same on both: they are looked at in the dark on the wide one only.
    """
    found: list[str] = []
    for width, themes in ((320, ("light",)), (1280, THEMES)):
        page.set_viewport_size({"width": width, "height": 800})
        found += [f"{width} px, {fault}" for fault in violations(page, themes)]
        found += [f"{width} px: {fault}" for fault in page.evaluate(FAULTS, {"controlsToo": False})]
    return found


def test_axe_finds_nothing_in_the_chat(open_browser: Open) -> None:
    page = new_chat(open_browser(viewport={"width": 1400, "height": 900}).new_page())
    page.locator("#files-toggle").click()
    expect(page.locator("#files")).to_contain_text("config.json")
    assert violations(page) == [], "an empty conversation"
    ask(page, "Read config.json and tell me the version")
    answered(page)
    ask(page, "write some python code")
    answered(page)
    ask(page, "show me a table")
    answered(page)
    for fold in page.locator("details:visible > summary").all():
        fold.click()
    page.locator(".call .fold > summary").last.click()
    assert violations(page) == [], "a conversation with an open card, code and a table"
    page.locator("#picker-button").click()
    assert violations(page) == [], "the picker"
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Settings of this chat").click()
    assert violations(page) == [], "the settings"
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Account of").click()
    assert violations(page) == [], "the account menu"


def test_a_small_screen_needs_no_sideways_scrolling(open_browser: Open) -> None:
    page = new_chat(open_browser(viewport=SMALL).new_page())
    assert overflow(page) == 0
    for text in ("show me a table", "write some python code", "Read config.json and tell me the version"):
        ask(page, text)
        answered(page)
    page.locator(".call summary").first.click()
    ask(page, "x" * 300)
    answered(page)
    assert overflow(page) == 0
    page.locator("#picker-button").click()
    assert overflow(page) == 0
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Chats").click()
    expect(page.get_by_role("button", name="New chat")).to_be_in_viewport()
    page.keyboard.press("Escape")
    page.locator("#files-toggle").click()
    expect(page.locator("#files")).to_contain_text("config.json")
    assert overflow(page) == 0


def test_every_section_is_reached_on_a_small_screen(open_browser: Open) -> None:
    page = open_browser(viewport=SMALL).new_page()
    page.goto("/models/")
    button = page.get_by_role("button", name="Sections")
    expect(button).to_contain_text("Models")
    button.focus()
    page.keyboard.press("Enter")
    last = page.get_by_role("navigation", name="Sections").get_by_role("link").last
    expect(last).to_contain_text("People")
    expect(last).to_be_in_viewport(ratio=1)
    assert violations(page) == [] and overflow(page) == 0
    last.click()
    page.wait_for_url("**/people/")


def test_the_keyboard_is_enough(open_browser: Open) -> None:
    page = open_browser(viewport={"width": 1280, "height": 800}).new_page()
    new_chat(page)
    page.locator("h1").click()
    keys = page.keyboard
    with page.expect_navigation():
        keys.press("n")
    ready(page)
    keys.press("Escape")
    keys.press("m")
    keys.type("sim-unk")
    keys.press("ArrowDown")
    keys.press("Home")
    expect(page.locator("#model-search")).to_have_attribute(
        "aria-activedescendant", page.locator("[data-active]").get_attribute("id") or ""
    )
    keys.press("Enter")
    expect(page.locator("#picker-button")).to_contain_text("sim-unknown")
    expect(page.locator("#text")).to_be_focused()
    keys.type("hello there")
    keys.press("Enter")
    answered(page)
    keys.press("Escape")
    expect(page.locator("#text")).not_to_be_focused()
    keys.press("c")
    expect(page.locator("#text")).to_be_focused()
    assert page.locator("#text").input_value() == ""


def stops(page: Page, key: str) -> list[dict[str, Any]]:
    """Press a key until the focus has been everywhere: the place of each stop in the page, and what is wrong there."""
    begin = page.evaluate(STOP)
    found = [begin] if begin else []
    for _ in range(MOST_STOPS):
        page.keyboard.press(key)
        here = page.evaluate(STOP)
        if len(found) > 1 and (here is None or here["place"] in (one["place"] for one in found)):
            return found
        found += [here] if here else []
    raise AssertionError(f"{key} never leaves {page.url}: {found[-3:]}")


def unnamed(page: Page) -> list[str]:
    """Controls, pictures and regions without a name in the tree that screen readers get."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    found = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]
    seen = {role for role, _ in found}
    assert {"button", "link", "heading"} <= seen, seen
    return [role for role, name in found if role in NAMED and not name.strip()]


def expect_menus_to_give_the_focus_back(page: Page) -> None:
    """Each menu and dialog takes the focus, holds it, and gives it back when Escape closes it."""
    keys = page.keyboard
    for name in (
        "Search or jump to",
        "Servers, people and more",
        "Account of",
        "Settings of this chat",
        "Model:",
    ):
        button = page.get_by_role("button", name=name).first
        button.focus()
        keys.press("Enter")
        opened = page.locator("dialog[open], :popover-open").last
        expect(opened).to_be_visible()
        keys.press("Escape")
        expect(opened).to_have_count(0)
        expect(button).to_be_focused()


# WCAG 2.1.1, 2.1.2, 2.4.3, 2.4.7, 2.4.11, 4.1.2
def test_the_tab_key_reaches_everything_in_order(open_browser: Open) -> None:
    page = open_browser(viewport={"width": 1280, "height": 800}).new_page()
    new_chat(page)
    ask(page, "What's in this folder?")
    answered(page)
    expect_menus_to_give_the_focus_back(page)
    chat = page.url
    for address, wanted in (
        (chat, ("Search chats", "Share", "Listed this folder", "Copy answer", "Message", "Attach files")),
        ("/start/", ("Connect your server", "sim-honest", "Address of the server", "Skip tour")),
        ("/models/?q=sim-h", ("Edit these", "Filter by model or server", "sim-honest:latest")),
        ("/models/1/", ("Open chat", "Settings", "Override… Vision")),
        ("/history/?show=all", ("To review",)),
    ):
        page.goto(address)
        settled(page)
        page.locator(".skip").focus()
        there = stops(page, "Tab")
        places, names = [one["place"] for one in there], " · ".join(one["name"] for one in there)
        assert [one for one in there if one["wrong"]] == [], address
        assert places == sorted(places), f"{address}: the order of the focus is not that of the page"
        assert [name for name in wanted if name not in names] == [], f"{address}: {names}"
        page.locator(".skip").focus()
        back = [one["place"] for one in stops(page, "Shift+Tab")[1:]]
        assert back == places[:0:-1], f"{address}: Shift and Tab go another way"
        assert unnamed(page) == [], address


def test_colors_of_the_reader_leave_the_states_apart(open_browser: Open) -> None:
    page = open_browser(forced_colors="active").new_page()
    page.goto("/models/")
    add = "(place, [state, html]) => place.insertAdjacentHTML('beforeend', html.replaceAll('STATE', state))"
    for state, style in (("proven", "solid"), ("claimed", "dashed")):
        page.locator("h1").evaluate(add, [state, "<span class=ev data-ev=STATE id=STATE>x</span>"])
        expect(page.locator(f"#{state}")).to_have_css("border-top-style", style)
    page.goto("/tools/")
    on, off = (page.get_by_role("switch", checked=checked).first for checked in (True, False))
    colour = "one => getComputedStyle(one).backgroundColor"
    assert on.evaluate(colour) != off.evaluate(colour)


def test_a_card_is_opened_by_the_keyboard(open_browser: Open) -> None:
    page = new_chat(open_browser(viewport={"width": 1280, "height": 800}).new_page())
    ask(page, "What's in this folder?")
    answered(page)
    asked, card = page.locator(".message[data-role=user]"), page.locator(".call")
    place = asked.bounding_box()
    card.locator("> summary").focus()
    page.keyboard.press("Enter")
    expect(card.locator(".call-body")).to_be_visible()
    card.get_by_text("Raw exchange").press("Enter")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    # What is opened pushes down what follows: the page does not move on to its end, so the question stays in sight.
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight") > 100
    assert asked.bounding_box() == place


def test_filters_of_the_picker(open_browser: Open) -> None:
    # M7
    page = new_chat(open_browser(viewport={"width": 1280, "height": 800}).new_page())
    page.locator("#picker-button").click()
    options = page.get_by_role("listbox").get_by_role("option")
    page.get_by_role("button", name=re.compile("^All ")).click()
    expect(options.filter(has_text="sim-refuses")).to_have_count(1)
    page.get_by_role("button", name=re.compile("^Works with tools ")).click()
    expect(options.filter(has_text="sim-refuses")).to_have_count(0)
    page.get_by_role("combobox").fill("sim-refuses")
    expect(options).to_have_count(1)
    page.get_by_role("combobox").fill("no such model")
    expect(page.get_by_text("No model matches.")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#models")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#models")).to_be_hidden()


def test_a_chosen_theme_stays_and_does_not_flash(open_browser: Open) -> None:
    context = open_browser(own=True, color_scheme="light")
    page = context.new_page()
    page.goto("/models/")
    page.get_by_role("button", name="Account of").click()
    page.get_by_role("button", name="Dark").click()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    # What the first frame of the next page is painted with: the theme is there before the body is.
    context.add_init_script(
        "new MutationObserver((_, all) => { if (document.body) { all.disconnect();"
        " window.first = document.documentElement.dataset.theme; } })"
        ".observe(document, {childList: true, subtree: true});"
    )
    page.goto("/servers/")
    assert page.evaluate("window.first") == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    page.get_by_role("button", name="Account of").click()
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="System").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark


def test_pages_are_small_and_fetched_in_one_step(open_browser: Open) -> None:
    # PERFORMANCE figure 8: 100 kB over the wire, scripts included; 10 of them are for a longer transcript. With 400 ms
    # for each answer of the network, a page is ready within 3 s only if no script or style waits for another one: all
    # of them stand in the page itself.
    page = new_chat(open_browser().new_page())
    devtools = page.context.new_cdp_session(page)
    devtools.send("Network.enable")
    devtools.send("Network.setCacheDisabled", {"cacheDisabled": True})
    sizes: list[float] = []
    late: list[str] = []
    devtools.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))

    def asked_for(event: dict[str, Any]) -> None:
        if event["type"] in ("Script", "Stylesheet") and event["initiator"]["type"] != "parser":
            late.append(event["request"]["url"])

    devtools.on("Network.requestWillBeSent", asked_for)
    for address in ("/", "/start/", "/models/", "/models/1/", "/history/?show=all"):
        sizes.clear()
        page.goto(address)
        page.wait_for_load_state("networkidle")
        assert 20_000 < sum(sizes) < 90_000, address
        assert late == [], address
