// The matrix of models: its cells open the evidence panel; arrows move by cell, Enter opens, Esc closes, t tests the row.
import { wanted } from "./preferences.js";

const table = () => document.querySelector("[data-matrix]");
const panel = () => document.getElementById("evidence");
const wide = matchMedia("(width >= 70rem)");
let from = null;

const close = () => {
  if (!panel() || !panel().childElementCount) return;
  if (panel().matches(":popover-open")) panel().hidePopover();
  panel().replaceChildren();
  for (const cell of table()?.querySelectorAll("[aria-expanded]") ?? []) cell.removeAttribute("aria-expanded");
  (from?.isConnected ? from : find(from))?.focus();
};

const find = (cell) => {
  const row = cell && document.getElementById(cell.dataset.row ?? "");
  return row?.querySelectorAll(".cell")[cell.dataset.at];
};

// A row that a test replaced has the same cell again.
const remember = (cell) => {
  const row = cell.closest("tr");
  return Object.assign(cell.dataset, { row: row.id, at: [...row.querySelectorAll(".cell")].indexOf(cell) }) && cell;
};

const fill = (cell) => {
  const row = cell.closest("tr"), about = encodeURIComponent(cell.dataset.about);
  cell.setAttribute("aria-expanded", "true");
  from = remember(cell);
  return htmx.ajax("GET", `/models/${row.dataset.model}/evidence/?capability=${about}`, { target: panel(), swap: "innerHTML" });
};

const open = async (cell) => {
  for (const one of table().querySelectorAll("[aria-expanded]")) one.removeAttribute("aria-expanded");
  await fill(cell);
  if (!wide.matches && !panel().matches(":popover-open")) panel().showPopover();
  panel().querySelector("[data-close]")?.focus();
};

const cells = (row) => [...row.querySelectorAll(".cell")].filter((cell) => cell.checkVisibility());
const rows = () => [...table().tBodies[0].rows];

const go = (cell) => {
  if (!cell) return;
  for (const one of table().querySelectorAll('.cell[tabindex="0"]')) one.tabIndex = -1;
  cell.tabIndex = 0;
  cell.focus();
};

const step = (cell, down, along) => {
  const row = cell.closest("tr"), here = cells(row), at = here.indexOf(cell);
  const across = document.dir === "rtl" || getComputedStyle(table()).direction === "rtl" ? -along : along;
  if (!down) return go(here[at + across]);
  const next = rows()[rows().indexOf(row) + down];
  go(next && cells(next)[at]);
};

// The row is tested as a run of one: its counter and its row are live.
const test = (cell) => {
  const row = cell.closest("tr");
  if (!("testable" in row.dataset) || "atWork" in row.dataset) return;
  const filter = Object.fromEntries(new FormData(document.getElementById("test-these")));
  htmx.ajax("POST", "/models/detect/", { source: row, target: "#bulk", swap: "outerHTML", values: { ...filter, model: row.dataset.model } });
};

const KEYS = {
  ArrowDown: (cell) => step(cell, 1, 0), ArrowUp: (cell) => step(cell, -1, 0),
  ArrowRight: (cell) => step(cell, 0, 1), ArrowLeft: (cell) => step(cell, 0, -1),
  t: (cell) => wanted("keys") && test(cell),
  Home: (cell) => go(cells(cell.closest("tr"))[0]), End: (cell) => go(cells(cell.closest("tr")).at(-1)),
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") return void close();
  const cell = event.target.closest?.("[data-matrix] .cell"), act = cell && KEYS[event.key];
  if (!act || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act(cell);
});

document.addEventListener("click", ({ target }) => {
  const cell = target.closest("[data-matrix] .cell");
  if (cell) open(cell);
  if (target.closest("#evidence [data-close]")) close();
});

// A row is replaced while its test runs: focus stays in its cell, an open panel shows the result, a new result is marked.
let focused = null;
document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
  const cell = document.activeElement?.closest?.("[data-matrix] .cell");
  focused = cell && detail.target?.contains(cell) ? remember(cell) : null;
});
document.addEventListener("htmx:oobAfterSwap", ({ target: row }) => {
  if (!row.matches("[data-matrix] tr")) return;
  go(focused && find(focused));
  if ("atWork" in row.dataset) return;
  row.classList.add("fresh");
  const cell = panel()?.childElementCount && from?.dataset.row === row.id && find(from);
  if (cell) fill(cell);
});
