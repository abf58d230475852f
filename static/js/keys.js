// Single keys outside text fields; a switch turns them off (they disturb people who speak to their computer).
import { copyFrom } from "./copy.js";

const KEYS = {
  n: () => document.querySelector("[data-key=n]")?.click(),
  m: () => document.querySelector("[data-key=m]")?.click(),
  c: () => document.querySelector("[data-key=c]")?.focus(),
  "/": () => document.querySelector("[data-key='/'], [data-search]")?.focus(),
  y: () => {
    const last = [...document.querySelectorAll("#transcript figure [data-copy]")].pop();
    if (last) copyFrom(last);
  },
  "?": () => document.getElementById("account").showPopover(),
};

const box = document.querySelector("[data-keys-switch]");
try { box.checked = localStorage.getItem("keys") !== "off"; } catch { /* no storage: on for this page */ }
box.addEventListener("change", () => {
  try { localStorage.setItem("keys", box.checked ? "on" : "off"); } catch { /* this page only */ }
});

const typing = (element) => element.closest("input, textarea, select, [contenteditable], dialog, [role=listbox]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target)) return;
  const act = KEYS[event.key];
  if (!act || !box.checked) return;
  event.preventDefault();
  act();
});
