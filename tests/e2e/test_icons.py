"""The icons of buttons stand out from what is behind them, in both themes and while the theme changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext

from tests.e2e.conftest import answered, ask, new_chat

pytestmark = pytest.mark.e2e

Open = Callable[..., BrowserContext]

# The contrast of the icon in each button with the colours behind it.
ICONS = """() => {
  const ink = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    ink.clearRect(0, 0, 1, 1);
    ink.fillStyle = colour;
    ink.fillRect(0, 0, 1, 1);
    return [...ink.getImageData(0, 0, 1, 1).data];
  };
  const over = (front, back) => back.map((value, at) => value + ((front[at] - value) * front[3]) / 255);
  const light = (colour) => {
    const [red, green, blue] = colour.map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (one) => {
    const parents = [];
    for (let at = one; at; at = at.parentElement) parents.unshift(rgba(getComputedStyle(at).backgroundColor));
    return parents.reduce((back, front) => over(front, back), [255, 255, 255]);
  };
  const found = [];
  for (const one of document.querySelectorAll("button:enabled > svg, a.button > svg, summary > svg")) {
    if (!one.checkVisibility()) continue;
    const back = behind(one), front = over(rgba(getComputedStyle(one).color), back);
    const [low, high] = [light(front), light(back)].sort((a, b) => a - b);
    const owner = one.parentElement;
    found.push([owner.ariaLabel || owner.textContent.trim().replace(/\\s+/g, " "), (high + 0.05) / (low + 0.05)]);
  }
  return found;
}"""


@pytest.mark.parametrize("width", [320, 1280])
def test_icons_stand_out_at_rest_below_the_pointer_and_in_focus(open_browser: Open, width: int) -> None:
    page = new_chat(open_browser().new_page())
    ask(page, "What's in this folder?")
    answered(page)
    for address in (page.url, "/models/"):
        page.goto(address)
        page.set_viewport_size({"width": width, "height": 800})
        for theme in ("dark", "light"):
            page.emulate_media(color_scheme=theme)
            icons = page.evaluate(ICONS)
            assert len(icons) > 2, address
            buttons = page.locator("button:enabled:has(> svg), a.button:has(> svg)").locator("visible=true")
            for button in buttons.all()[:10]:
                button.scroll_into_view_if_needed()
                box = button.bounding_box()
                assert box
                page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
                button.focus()
                icons += page.evaluate(ICONS)
            assert {(name, round(ratio, 1)) for name, ratio in icons if ratio < 4.5} == set(), (address, theme)


def test_a_change_of_theme_leaves_no_moment_of_low_contrast(open_browser: Open) -> None:
    page = open_browser(viewport={"width": 320, "height": 640}).new_page()
    page.emulate_media(reduced_motion="no-preference", color_scheme="light")
    page.goto("/models/")
    page.mouse.move(0, 0)
    changed, late = page.evaluate(
        """async () => {
          const every = () => [...document.querySelectorAll("*")].map((one) => {
            const { color, backgroundColor, borderBlockStartColor } = getComputedStyle(one);
            return [color, backgroundColor, borderBlockStartColor].join();
          });
          const before = every();
          document.documentElement.dataset.theme = "dark";
          const at_once = every();
          const running = document.getAnimations().filter((one) => one instanceof CSSTransition);
          await Promise.allSettled(running.map((one) => one.finished));
          const after = every();
          const unlike = (others) => after.filter((one, at) => one !== others[at]).length;
          return [unlike(before), unlike(at_once)];
        }"""
    )
    assert changed > 50
    assert late == 0
