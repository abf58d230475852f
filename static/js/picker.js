// The model picker: type to filter, arrows to move, Enter to choose. It is replaced after a swap, so all is delegated.
const dialog = () => document.getElementById("models");
const search = () => document.getElementById("model-search");
const options = () => [...document.querySelectorAll("#model-options [role=option]")];
const offered = () => options().filter((option) => !option.hidden);
const active = () => document.querySelector("#model-options [data-active]");

const activate = (option) => {
  for (const one of options()) one.toggleAttribute("data-active", one === option);
  for (const card of dialog().querySelectorAll("[data-card]")) card.hidden = card.dataset.card !== option?.dataset.model;
  if (option) search().setAttribute("aria-activedescendant", option.id);
  else search().removeAttribute("aria-activedescendant");
  option?.scrollIntoView({ block: "nearest" });
};

// The exact name first, then names that begin so; the server's order among equals.
const sort = (typed) => {
  const rank = ({ dataset }) => {
    const name = dataset.search.split(" ")[0];
    return typed && name.replace(/:latest$/, "") === typed.replace(/:latest$/, "") ? 0 : typed && name.startsWith(typed) ? 1 : 2;
  };
  options().forEach((option, place) => (option.dataset.place ??= place));
  const place = (option) => Number(option.dataset.place);
  const sorted = options().sort((one, other) => rank(one) - rank(other) || place(one) - place(other));
  document.getElementById("model-options").append(...sorted);
};

const filter = () => {
  sort(search().value.trim().toLowerCase());
  const words = search().value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = [...dialog().querySelectorAll("[data-filter][aria-pressed=true]")].map((button) => button.dataset.filter);
  for (const option of options())
    option.hidden = !(words.every((word) => option.dataset.search.includes(word)) && wanted.every((name) => name in option.dataset));
  document.getElementById("no-models").hidden = offered().length > 0;
  const here = offered();
  activate(here.find((option) => !words.length && option.ariaSelected === "true") ?? here[0]);
};

const show = (typed = "") => {
  search().value = typed;
  dialog().showModal();
  search().focus();
  filter();
};

// What is known changes while somebody looks: the picker that comes instead is as open as the one before it.
let left = null;
document.addEventListener("htmx:beforeSwap", ({ target }) => {
  if (target.id !== "picker") return;
  const pressed = [...dialog().querySelectorAll("[data-filter][aria-pressed=true]")].map((button) => button.dataset.filter);
  left = dialog().open ? { typed: search().value, pressed, model: active()?.dataset.model } : null;
});
export const reopen = () => {
  if (!left || dialog().open) return;
  for (const button of dialog().querySelectorAll("[data-filter]"))
    button.setAttribute("aria-pressed", String(left.pressed.includes(button.dataset.filter)));
  show(left.typed);
  const before = offered().find((option) => option.dataset.model === left.model);
  if (before) activate(before);
  left = null;
};

const choose = (option) => {
  if (!option || option.ariaDisabled === "true") return;
  dialog().close();
  document.dispatchEvent(new CustomEvent("model:chosen", { detail: option.dataset.model }));
};

const move = (step) => {
  const here = offered();
  if (here.length) activate(here[(here.indexOf(active()) + step + here.length) % here.length]);
};

const KEYS = {
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  Home: () => activate(offered()[0]),
  End: () => activate(offered().at(-1)),
  Enter: () => choose(active()),
};

document.addEventListener("click", (event) => {
  if (event.target.closest("#picker-button")) show();
  if (event.target === dialog() || event.target.closest("#models [data-close]")) dialog().close();
  const test = event.target.closest("#picker [data-test-model]");
  if (test) {
    dialog().close();
    document.dispatchEvent(new CustomEvent("model:test", { detail: test.dataset.testModel }));
  }
  const pressed = event.target.closest("#models [data-filter]");
  if (pressed) {
    pressed.setAttribute("aria-pressed", String(pressed.getAttribute("aria-pressed") !== "true"));
    filter();
    search().focus();
  }
  choose(event.target.closest("#model-options [role=option]"));
});
document.addEventListener("input", (event) => event.target === search() && filter());
document.addEventListener("keydown", (event) => {
  if (event.target !== search() || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});
document.addEventListener("pointermove", (event) => {
  const option = event.target.closest("#model-options [role=option]");
  if (option && option !== active()) activate(option);
});
