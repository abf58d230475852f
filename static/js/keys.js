// Single keys outside text fields: n new chat, m model picker, c composer, y copy the last code.
import { copyFrom } from "./copy.js";

const KEYS = {
  n: () => document.querySelector("[data-key=n]")?.click(),
  m: () => document.querySelector("[data-key=m]")?.click(),
  c: () => document.querySelector("[data-key=c]")?.focus(),
  "/": () => document.querySelector("[data-key='/']")?.focus(),
  y: () => {
    const last = [...document.querySelectorAll("#transcript [data-copy]")].pop();
    if (last) copyFrom(last);
  },
};

const typing = (element) => element.closest("input, textarea, select, [contenteditable], dialog, [role=listbox]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target)) return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
