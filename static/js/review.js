// The history by keyboard: J and K move between rows, Enter opens the evidence, A, D and R press the buttons of the row.
// On a closed bundle they open it: each of its entries has an answer of its own.
import { wanted } from "./preferences.js";

const rows = () => [...document.querySelectorAll("[data-row]")].filter((row) => row.checkVisibility());
const here = () => document.activeElement.closest("[data-row]");

const mark = (row) => {
  for (const old of document.querySelectorAll("[data-row][data-active]")) delete old.dataset.active;
  if (row) row.dataset.active = "";
};

const move = (steps) => {
  const all = rows();
  const now = all.indexOf(here());
  const next = all[now < 0 ? 0 : Math.min(all.length - 1, Math.max(0, now + steps))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
};

const own = (row, selector) => [...row.querySelectorAll(selector)].find((one) => one.closest("[data-row]") === row && one.checkVisibility());
const say = (words) => document.getElementById("key-status")?.replaceChildren(words);

const press = (deed, word) => () => {
  const row = here();
  const button = row && own(row, `[data-do=${deed}]`);
  const bundle = row && !button && row.id.startsWith("bundle-"), closed = bundle && own(row, "details.more:not([open]) > summary");
  say(button ? "" : bundle ? `${closed ? "Opened. " : ""}Choose an entry to ${word}.` : row ? `Nothing to ${word} here.` : "Choose a row first.");
  if (bundle) {
    closed?.click();
    row.querySelector("[data-row]")?.focus();
  }
  button?.click();
};

const open = () => {
  const row = here();
  if (row !== document.activeElement) return false;
  own(row, "details.more > summary")?.click();
  return true;
};

const KEYS = { j: () => move(1), k: () => move(-1), a: press("agree", "agree with"), d: press("disagree", "disagree with"), r: press("revert", "revert") };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog, [contenteditable]")) return;
  if (event.key === "Enter") return void (open() && event.preventDefault());
  const act = KEYS[event.key];
  if (!act || !wanted("keys")) return;
  event.preventDefault();
  act();
});

document.addEventListener("focusin", ({ target }) => mark(target.closest("[data-row]")));

// The reason is entered inline: its field gets the focus; Escape leaves it.
document.addEventListener("toggle", ({ target }) => {
  if (target.matches?.("details.disagree") && target.open) target.querySelector("input[name=note]").focus();
}, true);
document.addEventListener("keydown", (event) => {
  const asked = event.key === "Escape" && event.target.closest("details.disagree, details.ask-once");
  if (!asked) return;
  asked.open = false;
  asked.querySelector("summary").focus();
});

// The changed row stays and keeps the focus.
let acted = null;
document.addEventListener("htmx:beforeSwap", ({ target }) => {
  acted = target.matches("[data-row]") && target.contains(document.activeElement) ? target.id : null;
});
document.addEventListener("htmx:afterSettle", () => {
  // A reader who has moved on keeps the focus.
  if (acted && document.activeElement === document.body) document.getElementById(acted)?.focus();
  acted = null;
});
