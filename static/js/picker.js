// The model picker: its rows are fetched when it opens. Type to filter, arrows to move, Enter to choose, T to test, P to pin.
import { activate, active, dialog, fill, filterBy, list, offered, search, show } from "./model_rows.js";
import { togglePin } from "./pinned.js";

let loaded = Promise.resolve(), simulated = false, marked = false;

const load = async () => {
  const answer = await fetch(`${dialog().dataset.source}${simulated ? "?simulated=1" : ""}`).catch(() => null);
  if (answer?.ok && !answer.redirected) {
    fill(await answer.text());
    if (list().querySelector("[data-at-work]")) setTimeout(refresh, 1500);
  }
  else list().innerHTML = '<p class="empty" id="no-models">The models could not be loaded. Close this and open it again.</p>';
};

// Opens the picker: for the button, the key, the command, and another model for one answer.
export const open = (typed = "") => {
  search().value = typed;
  marked = false;
  filterBy("");
  activate();
  if (!dialog().open) dialog().showModal();
  search().focus();
  loaded = load();
  return dialog();
};
export const refresh = () => { if (dialog()?.open) loaded = load(); };

const choose = (option) => {
  if (!option || option.ariaDisabled === "true") return;
  dialog().close();
  document.dispatchEvent(new CustomEvent("model:chosen", { detail: option.dataset.model }));
};
const test = (model) => {
  document.dispatchEvent(new CustomEvent("model:test", { detail: model }));
  setTimeout(refresh, 400);
};
const pin = () => { togglePin(active().dataset.model); refresh(); };
const move = (step) => {
  const here = offered();
  marked = true;
  if (here.length) activate(here[(here.indexOf(active()) + step + here.length) % here.length]);
};
const KEYS = {
  ArrowDown: () => move(1), ArrowUp: () => move(-1), Home: () => activate(offered()[0]), End: () => activate(offered().at(-1)), Enter: () => choose(active()),
};
// A letter acts on a row that the arrows have marked; else it begins the search.
const LETTERS = { t: () => active().ariaDisabled === "true" || test(active().dataset.model), p: pin };

document.addEventListener("click", ({ target }) => {
  const at = (selector) => target.closest(selector);
  if (at("#picker-button")) open();
  if (target === dialog() || at("#models [data-close]")) dialog().close();
  const tested = at("#picker [data-test-model], #models [data-test-model]");
  if (tested) test(tested.dataset.testModel);
  if (at("#models [data-pin]")) pin();
  if (at("#models [data-simulated]")) (simulated = true), refresh();
  const button = at("#models [data-filter]");
  if (button) {
    filterBy(button.dataset.filter);
    search().focus();
  }
  choose(at("#models [role=option]"));
});
document.addEventListener("input", ({ target }) => { if (target === search()) (marked = false), list().ariaBusy === "false" && show(); });
document.addEventListener("keydown", async (event) => {
  const letter = marked && !search().value && !event.ctrlKey && !event.metaKey && !event.altKey && LETTERS[event.key];
  if (event.target !== search() || !(letter || KEYS[event.key])) return;
  event.preventDefault();
  await loaded;
  if (dialog().open) (letter || KEYS[event.key])();
});
document.addEventListener("pointermove", ({ target }) => {
  const option = target.closest?.("#models [role=option]");
  if (option && option !== active()) activate(option);
});
