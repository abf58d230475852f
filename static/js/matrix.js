// The matrix of models: its cells open the evidence panel; arrows move by cell, Enter opens, Esc closes and gives focus back.
const table = () => document.querySelector("[data-matrix]");
const panel = () => document.getElementById("evidence");
const wide = matchMedia("(width >= 70rem)");
let from = null;

const close = () => {
  if (!panel() || !panel().childElementCount) return;
  if (panel().matches(":popover-open")) panel().hidePopover();
  panel().replaceChildren();
  for (const cell of table()?.querySelectorAll("[aria-expanded]") ?? []) cell.removeAttribute("aria-expanded");
  // A row that a test replaced has the same cell again.
  (from?.isConnected ? from : find(from))?.focus();
};

const find = (cell) => {
  const row = cell && document.getElementById(cell.dataset.row ?? "");
  return row?.querySelector(`[data-about="${CSS.escape(cell.dataset.about)}"]`);
};

const open = async (cell) => {
  const row = cell.closest("tr");
  for (const one of table().querySelectorAll("[aria-expanded]")) one.removeAttribute("aria-expanded");
  cell.setAttribute("aria-expanded", "true");
  cell.dataset.row = row.id;
  from = cell;
  await htmx.ajax("GET", `/models/${row.dataset.model}/evidence/?capability=${encodeURIComponent(cell.dataset.about)}`, { target: panel(), swap: "innerHTML" });
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

const KEYS = {
  ArrowDown: (cell) => step(cell, 1, 0), ArrowUp: (cell) => step(cell, -1, 0),
  ArrowRight: (cell) => step(cell, 0, 1), ArrowLeft: (cell) => step(cell, 0, -1),
  Home: (cell) => go(cells(cell.closest("tr"))[0]), End: (cell) => go(cells(cell.closest("tr")).at(-1)),
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") return void close();
  const cell = event.target.closest?.("[data-matrix] .cell"), act = cell && KEYS[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act(cell);
});

document.addEventListener("click", ({ target }) => {
  const cell = target.closest("[data-matrix] .cell");
  if (cell) open(cell);
  if (target.closest("#evidence [data-close]")) close();
});

// A row that shows a new result is marked for a moment.
document.addEventListener("htmx:oobAfterSwap", ({ detail }) => detail.target?.closest?.("tr")?.classList.add("fresh"));
