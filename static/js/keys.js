// Single keys outside text fields, as the help behind `?` lists them; a switch turns them off.
import { copyFrom } from "./copy.js";
import { wanted } from "./preferences.js";

const help = () => document.getElementById("keyboard");
const openHelp = () => {
  document.querySelector("#account:popover-open")?.hidePopover();
  help().showModal();
};

// On a small screen the field is in a drawer, which is opened first.
const reach = (element) => {
  const drawer = element?.closest("[popover]");
  if (drawer && !element.checkVisibility()) drawer.showPopover();
  element?.focus();
};

const press = (selector) => [...document.querySelectorAll(selector)].at(-1)?.click();
const SECTIONS = { c: "/", m: "/models/", e: "/exams/", t: "/tools/", h: "/history/", i: "/insights/" };
const PATIENCE = 1500;
let began = 0;

const KEYS = {
  n: () => press("[data-key=n]"),
  m: () => press("[data-key=m]"),
  c: () => document.querySelector("[data-key=c]")?.focus(),
  f: () => press("[data-key=f]"),
  "/": () => reach(document.querySelector("[data-key='/']")),
  y: () => {
    const last = [...document.querySelectorAll("#transcript :is(figure [data-copy], [data-key=y])")].pop();
    if (last) copyFrom(last);
  },
  g: () => { began = Date.now(); },
  "?": openHelp,
};

// On the page of a comparison, the button of an answer: Enter uses it.
for (const number of "123456") KEYS[number] = () => document.querySelectorAll("[data-choice]")[number - 1]?.focus();

// For a moment after g, a letter opens a section.
const section = (key) => {
  const second = Date.now() - began < PATIENCE && SECTIONS[key];
  began = 0;
  return second && (() => press(`#sections a[href="${second}"]`));
};

const typing = (element) => element.closest("input, textarea, select, [contenteditable], dialog, [role=listbox]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target)) return;
  const act = section(event.key) || KEYS[event.key];
  if (!act || !wanted("keys")) return;
  event.preventDefault();
  act();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-help]")) openHelp();
  if (event.target === help() || event.target.closest("#keyboard [data-close]")) help().close();
});
