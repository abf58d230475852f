// The list of chats: states of their answers, the menu of a row by keyboard, the search by command.
const list = () => document.getElementById("conversations");
let known = { answers: [], unread: [] }, row = "";

const show = () => {
  const states = Object.fromEntries(known.answers.filter((one) => one.state !== "ended").map((one) => [one.chat, one.state]));
  for (const place of document.querySelectorAll("#conversations [data-state]")) {
    const id = place.dataset.state, state = states[id] ?? (known.unread.includes(id) ? "new answer" : ""), word = place.querySelector("[data-word]");
    place.dataset.answer = state;
    place.title = state;
    if (word.textContent !== state) word.textContent = state;
  }
};

// The first message makes a chat's row: one that began elsewhere is fetched, once (an archived one stays away).
// The page itself came with the rows of all that had ended by then.
const missed = new Set();
let began = false;
const fetchRows = () => {
  const rowless = known.answers.filter(({ chat }) => !missed.has(chat) && !document.getElementById(`listed-${chat}`));
  const fresh = rowless.filter(({ state }) => began || state !== "ended");
  for (const { chat } of rowless) missed.add(chat);
  began = true;
  // As its own search: a later one replaces it.
  if (fresh.length && !list().contains(document.activeElement)) document.getElementById("conversation-search").requestSubmit();
};

document.addEventListener("answers", ({ detail }) => {
  known = detail;
  show();
  fetchRows();
});

document.addEventListener("chats:replaced", show);

// A menu that was opened before a new list came: it moves into its new row, with the focus. Detached, it keeps its listeners.
let moving = null;
const detach = (menu) => {
  moving = { menu, row: menu.closest("li").id, focused: menu.contains(document.activeElement) ? document.activeElement : null };
  menu.remove();
};
const attach = () => {
  document.getElementById(moving.row)?.querySelector(".more").replaceWith(moving.menu);
  moving.focused?.focus();
  moving = null;
};

document.addEventListener("htmx:beforeSwap", ({ target, detail }) => {
  if (target !== list() || detail.requestConfig.elt.id !== "conversation-search" || !detail.shouldSwap) return;
  const menu = target.querySelector(".more[open]");
  if (menu) detach(menu);
});

// The list was replaced, perhaps twice at once (an answer began elsewhere): the row in use keeps the focus.
document.addEventListener("htmx:afterSwap", (event) => {
  if (!list()?.contains(event.target) && event.target !== list() && event.target.id !== "conversations") return;
  show();
  if (moving) attach();
  if (document.activeElement === document.body && row) document.querySelector(`#${CSS.escape(row)} a`)?.focus();
});
const note = ({ target }) => { row = target.closest?.("#conversations li[id]")?.id ?? ""; };
document.addEventListener("focusin", note);
document.addEventListener("click", (event) => {
  note(event);
  for (const menu of document.querySelectorAll("#conversations .more[open]")) if (!menu.contains(event.target)) menu.open = false;
});

// Shift+F10 or the menu key on a row opens its menu; Esc closes it.
document.addEventListener("keydown", (event) => {
  const menu = event.target.closest?.("#conversations li[id]")?.querySelector(".more");
  if (!menu) return;
  if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) menu.open = true;
  else if (event.key === "Escape" && menu.open) menu.open = false;
  else return;
  event.preventDefault();
  menu.querySelector("summary").focus();
});

document.addEventListener("chats:search", ({ detail: words }) => {
  const field = document.getElementById("search"), sidebar = field.closest("[popover]");
  if (!field.checkVisibility()) sidebar.showPopover();
  field.value = words;
  field.focus();
  field.dispatchEvent(new Event("input", { bubbles: true }));
});
