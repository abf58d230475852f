// The rows of the model picker: filtered, in order, one of them marked.
import { pinned } from "./pinned.js";
import { refresh } from "./times.js";

export const dialog = () => document.getElementById("models");
export const search = () => document.getElementById("model-search");
export const list = () => document.getElementById("model-list");
const foot = () => dialog().querySelector(".model-foot");
export const offered = () => [...list().querySelectorAll("[role=option]")].filter((option) => !option.hidden);
export const active = () => list().querySelector("[data-active]");
const filters = () => [...list().querySelectorAll("[data-filter]")];
let rows = [], homes = new Map(), filter = "", first = "all";

export const activate = (option) => {
  for (const one of rows) one.toggleAttribute("data-active", one === option);
  foot().hidden = !option;
  if (!option) return search().removeAttribute("aria-activedescendant");
  search().setAttribute("aria-activedescendant", option.id);
  const model = option.dataset.model, off = option.ariaDisabled === "true";
  foot().querySelector("[data-name]").textContent = option.querySelector(".cut").lastChild.textContent;
  foot().querySelector("[data-about]").textContent = option.dataset.about;
  foot().querySelector("[data-evidence-link]").href = `/models/${model}/`;
  Object.assign(foot().querySelector("[data-test-model]"), { disabled: off }).dataset.testModel = model;
  foot().querySelector("[data-pin]").setAttribute("aria-pressed", String(pinned().includes(model)));
  option.scrollIntoView({ block: "nearest" });
};

// While something is typed, the best matches stand together: the exact name, then names that begin so.
const arrange = (typed) => {
  for (const row of rows) homes.get(row).append(row);
  const name = (row) => row.dataset.search.split(" ")[0];
  const rank = (row) => (name(row).replace(/:latest$/, "") === typed.replace(/:latest$/, "") ? 0 : name(row).startsWith(typed) ? 1 : 2);
  const matching = list().querySelector("[data-matching]");
  if (typed) matching.append(...[...rows].sort((one, other) => rank(one) - rank(other)));
  // A server without models keeps its title, which has the reason.
  for (const group of new Set([...homes.values(), matching, list().querySelector("[data-recent]")]))
    group.hidden = !group.querySelector("[role=option]:not([hidden])");
};

export const show = (model) => {
  const typed = search().value.trim().toLowerCase(), words = typed.split(/\s+/).filter(Boolean);
  const fits = rows.filter((row) => words.every((word) => row.dataset.search.includes(word)));
  const wanted = filter || (words.length ? "all" : first);
  const passing = fits.filter((row) => wanted === "all" || wanted in row.dataset || (!filter && row.ariaSelected === "true"));
  const leaves = words.length && !passing.length, shown = new Set(leaves ? fits : passing);
  for (const one of filters()) one.ariaPressed = String(one.dataset.filter === (leaves ? "all" : wanted));
  for (const row of rows) row.hidden = !shown.has(row);
  arrange(typed);
  document.getElementById("no-models").hidden = shown.size > 0;
  const here = offered();
  const kept = here.find((row) => row.dataset.model === model);
  activate(kept ?? here.find((row) => !typed && row.ariaSelected === "true") ?? here[0]);
};

export const fill = (html) => {
  const model = active()?.dataset.model;
  list().innerHTML = html;
  list().ariaBusy = "false";
  refresh(list());
  first = filters().find((one) => one.ariaPressed === "true")?.dataset.filter ?? "all";
  const recent = list().querySelector("[data-recent]"), kept = pinned();
  for (const row of [...list().querySelectorAll("[role=option]")].reverse()) {
    row.toggleAttribute("data-pinned", kept.includes(row.dataset.model));
    if (row.matches("[data-pinned]")) recent.querySelector(".head").after(row);
  }
  rows = [...list().querySelectorAll("[role=option]")];
  homes = new Map(rows.map((row) => [row, row.parentElement]));
  search().setAttribute("aria-controls", "model-options");
  search().ariaExpanded = "true";
  show(model);
};

export const filterBy = (name) => {
  filter = name;
  if (rows.length) show();
};
