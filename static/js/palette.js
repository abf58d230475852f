// Ctrl or ⌘ K on every page: search models, commands, chats and pages, and jump there.
import { letters, ofModels } from "./palette_models.js";
import { local, read } from "./palette_options.js";
import { choose, pieces } from "./palette_rules.js";
import { search } from "./palette_search.js";
import { wanted } from "./preferences.js";
import { refresh } from "./times.js";

const dialog = document.getElementById("palette");
const field = document.getElementById("palette-text"), list = document.getElementById("palette-list");
const KEY = `palette:${document.body.dataset.person ?? ""}`, KEPT = 5;
let options = [], shown = [], place = 0, fetched;

const recent = () => {
  try { return JSON.parse(localStorage.getItem(KEY)) ?? []; } catch { return []; }
};
const remember = ({ id }) => {
  try { localStorage.setItem(KEY, JSON.stringify([id, ...recent().filter((one) => one !== id)].slice(0, KEPT))); } catch { /* this page only */ }
};

const load = async () => {
  const answer = await fetch(dialog.dataset.url, { redirect: "manual" });
  if (!answer.ok) return void location.reload();
  const found = read(await answer.text()), here = [];
  document.dispatchEvent(new CustomEvent("palette:commands", { detail: here }));
  const models = found.filter(({ group }) => group === "Models");
  options = [...found, ...[...here, ...ofModels(models)].map(local)];
  show();
};

const mark = (to) => {
  place = shown.length ? (to + shown.length) % shown.length : 0;
  shown.forEach(({ option: { element } }, index) => element.setAttribute("aria-selected", String(index === place)));
  if (!shown.length) return field.removeAttribute("aria-activedescendant");
  field.setAttribute("aria-activedescendant", shown[place].option.id);
  shown[place].option.element.scrollIntoView({ block: "nearest" });
};

const paint = ({ title, element }) => element.querySelector("[data-match]").replaceChildren(...pieces(title, field.value).map(([piece, typed]) => {
  const part = document.createElement(typed ? "mark" : "span");
  part.textContent = piece;
  return part;
}));

const head = (group) => Object.assign(document.createElement("li"), { className: "head", role: "presentation", textContent: group });

const show = () => {
  shown = choose(options, field.value, recent());
  const parts = shown.flatMap(({ option, group }, index) => (shown[index - 1]?.group === group ? [option.element] : [head(group), option.element]));
  shown.forEach(({ option }) => paint(option));
  list.replaceChildren(...parts);
  refresh(list);
  const hidden = options.find(({ id }) => id === "palette-hidden")?.element;
  dialog.querySelector("[data-none]").textContent = shown.length || !options.length ? "" : `Nothing matches. ${hidden?.dataset.note ?? ""}`.trim();
  mark(0);
};

// Chats found by their messages join the others; the marked option stays marked.
const join = (found) => {
  const marked = shown[place]?.option;
  for (const one of found) {
    const known = options.find(({ id }) => id === one.id);
    if (known) Object.assign(known, { words: one.words, element: one.element });
    else options.push(one);
  }
  show();
  mark(Math.max(0, shown.findIndex(({ option }) => option === marked)));
};

const open = () => {
  if (dialog.open) return;
  field.value = "";
  dialog.removeAttribute("data-moved");
  list.replaceChildren();
  dialog.showModal();
  field.focus();
  fetched = load().catch(() => { dialog.querySelector("[data-none]").textContent = "The server cannot be reached."; });
};

const go = async (newTab) => {
  await fetched;
  const option = dialog.open && shown[place]?.option;
  if (!option) return;
  const { url, press, act } = option.element.dataset;
  remember(option);
  dialog.close();
  if (option.act) option.act();
  else if (press) document.querySelector(press)?.click();
  else if (act === "new") document.getElementById("palette-start").submit();
  else if (newTab) window.open(url, "_blank", "noopener");
  else location.assign(url);
};

const move = (to) => { mark(to); dialog.toggleAttribute("data-moved", true); };
const KEYS = { ArrowDown: () => move(place + 1), ArrowUp: () => move(place - 1), Enter: (event) => go(event.ctrlKey || event.metaKey) };

if (dialog) {
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || !wanted("palette")) return;
    event.preventDefault();
    open();
  });
  field.addEventListener("keydown", (event) => {
    const act = KEYS[event.key] ?? letters(event, shown[place]?.option, dialog);
    if (act) event.preventDefault(), act(event);
  });
  field.addEventListener("input", () => {
    show();
    search(dialog.dataset.url, field.value, (html) => join(read(html)));
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-palette]")) open();
    if (event.target === dialog || event.target.closest("#palette [data-close]")) dialog.close();
    const index = shown.findIndex(({ option }) => option.element.contains(event.target));
    if (index >= 0 && dialog.open) mark(index), go(event.ctrlKey || event.metaKey);
  });
}
