// Single keys outside text fields, as the help behind `?` lists them; a switch turns them off.
import { copyFrom } from "./copy.js";
import { wanted } from "./preferences.js";

const help = () => document.getElementById("keyboard");
const openHelp = () => {
  document.querySelector("#account:popover-open")?.hidePopover();
  help().showModal();
};

// On a small screen the field lies in a drawer that has to be opened first.
const reach = (element) => {
  const drawer = element?.closest("[popover]");
  if (drawer && !element.checkVisibility()) drawer.showPopover();
  element?.focus();
};

const KEYS = {
  n: () => document.querySelector("[data-key=n]")?.click(),
  m: () => document.querySelector("[data-key=m]")?.click(),
  c: () => document.querySelector("[data-key=c]")?.focus(),
  h: () => document.querySelector("a[href='/history/']")?.click(),
  "/": () => reach(document.querySelector("[data-key='/']")),
  y: () => {
    const last = [...document.querySelectorAll("#transcript figure [data-copy]")].pop();
    if (last) copyFrom(last);
  },
  "?": openHelp,
};

const typing = (element) => element.closest("input, textarea, select, [contenteditable], dialog, [role=listbox]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target)) return;
  const act = KEYS[event.key];
  if (!act || !wanted("keys")) return;
  event.preventDefault();
  act();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-help]")) openHelp();
  if (event.target === help() || event.target.closest("#keyboard [data-close]")) help().close();
});
