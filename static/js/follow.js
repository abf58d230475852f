// Stay at the end while text arrives, until the reader scrolls up; then a pill shows that there is new text.
const NEAR = 48;
const pill = document.getElementById("follow");
const page = document.scrollingElement;
// A chat begins at its end: the place of the page before would look like a reader who scrolls up to the earlier messages.
history.scrollRestoration = "manual";
let following = true, last = 0, moved = false, acted = -Infinity, opened = -Infinity, held = false;

// The browser scrolls by itself while it lays out text. So a scroll counts as the reader's only within this many milliseconds of a
// wheel, touch, key or scroll bar event, or while the browser's search has the focus.
// What grows within OPENS milliseconds after a click on a fold is the fold.
const LATELY = 1_000, OPENS = 200;
const busy = () => document.querySelector("#transcript[aria-busy=true]");
const byReader = () => held || performance.now() - acted < LATELY || !document.hasFocus() || !busy();
for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"]) {
  addEventListener(kind, ({ target, key }) => {
    if (key && key !== "PageUp" && target.closest?.("textarea")) return;
    acted = performance.now();
    held ||= kind === "pointerdown";
  }, { capture: true, passive: true });
}
for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, () => { held = false; }, { capture: true });

const atEnd = () => page.scrollHeight - scrollY - innerHeight < NEAR;

// The scroll event of this move reads nothing: after it each read would compute the layout of a long answer once more.
const toEnd = () => {
  const end = page.scrollHeight - innerHeight;
  moved = Math.abs(end - scrollY) >= 1;
  scrollTo({ top: end, behavior: "instant" });
  last = end;
};

addEventListener("scroll", () => {
  if (moved) return void (moved = false);
  if (atEnd()) following = true;
  else if (scrollY < last && following) {
    if (!byReader()) return toEnd();
    following = false;
  }
  last = scrollY;
  if (following) pill.hidden = true;
}, { passive: true });

pill.addEventListener("click", () => {
  following = true;
  pill.hidden = true;
  toEnd();
});

// What a reader opens stays where it is: the page must not move on to its end. Closed again, the end may be in sight.
document.querySelector(".stage").addEventListener("click", ({ target }) => {
  if (!target.closest("summary, [data-show], [data-raw]")) return;
  following = false;
  opened = performance.now();
}, { capture: true });

let height = 0;
new ResizeObserver(([entry]) => {
  const grown = entry.contentRect.height > height;
  if (!grown && atEnd()) following = true;
  height = entry.contentRect.height;
  // An empty conversation is read from its top.
  if (following && document.querySelector("#transcript .message")) toEnd();
  else if (grown && busy() && performance.now() - opened > OPENS) pill.hidden = false;
}).observe(document.querySelector(".stage"));

export const follow = () => {
  following = true;
  toEnd();
};
