// The list of commands above the field while its text begins with a slash: arrows move, Tab and Enter complete, Esc closes.
import { matching, obey } from "./commands.js";

const field = document.getElementById("text"), list = document.getElementById("commands");
let found = [], place = 0;

const open = () => !list.hidden;

const mark = (to) => {
  place = (to + found.length) % found.length;
  [...list.children].forEach((option, index) => option.setAttribute("aria-selected", String(index === place)));
  field.setAttribute("aria-activedescendant", list.children[place].id);
  list.children[place].scrollIntoView({ block: "nearest" });
};

const close = () => {
  list.hidden = true;
  found = [];
  field.removeAttribute("aria-activedescendant");
};

const optionOf = ([name, follows, about], index) => {
  const option = document.createElement("li"), code = document.createElement("code"), words = document.createElement("span");
  Object.assign(option, { id: `command-${index}`, role: "option" });
  code.textContent = follows ? `${name} ${follows}` : name;
  words.textContent = about;
  option.append(code, words);
  return option;
};

const look = () => {
  found = matching(field.value);
  if (!found.length) return close();
  list.replaceChildren(...found.map(optionOf));
  list.hidden = false;
  mark(0);
};

const fill = ([name, follows]) => {
  field.value = follows ? `${name} ` : name;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
};

// A command that is complete runs on Enter; any other is completed first.
const whole = () => found[place][0] === field.value.trim().toLowerCase() && !found[place][1];

const KEYS = {
  ArrowDown: () => mark(place + 1),
  ArrowUp: () => mark(place - 1),
  Tab: () => fill(found[place]),
  Enter: () => fill(found[place]),
  Escape: close,
};

field.addEventListener("input", look);
field.addEventListener("blur", close);
// Runs before the field's own key handler.
field.addEventListener("keydown", (event) => {
  const act = !event.shiftKey && open() && KEYS[event.key];
  if (!act) return;
  if (event.key === "Enter" && whole()) return close();
  event.preventDefault();
  event.stopImmediatePropagation();
  act();
});
list.addEventListener("pointerdown", (event) => event.preventDefault());
list.addEventListener("click", (event) => {
  const option = event.target.closest("[role=option]");
  if (!option) return;
  const [name, follows] = found[[...list.children].indexOf(option)];
  if (follows) return fill([name, follows]);
  obey(name);
  field.value = "";
  field.dispatchEvent(new Event("input", { bubbles: true }));
});
