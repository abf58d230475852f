// The list of chats: states of their answers, the menu of a row by keyboard, the search by command.
const list = () => document.getElementById("conversations");
let known = { answers: [], unread: [] }, pressed = "";

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
const missed = new Set();
const fetchRows = () => {
  const fresh = known.answers.filter(({ chat }) => !missed.has(chat) && !document.getElementById(`listed-${chat}`));
  for (const { chat } of fresh) missed.add(chat);
  // As its own search: a later one replaces it.
  if (fresh.length && !list().contains(document.activeElement)) document.getElementById("conversation-search").requestSubmit();
};

document.addEventListener("answers", ({ detail }) => {
  known = detail;
  show();
  fetchRows();
});

document.addEventListener("chats:replaced", show);

// The list was replaced: a row that moved keeps the focus.
document.addEventListener("htmx:afterSwap", (event) => {
  if (!list()?.contains(event.target) && event.target !== list() && event.target.id !== "conversations") return;
  show();
  if (document.activeElement === document.body && pressed) document.querySelector(`#${CSS.escape(pressed)} a`)?.focus();
  pressed = "";
});
document.addEventListener("click", (event) => {
  pressed = event.target.closest("#conversations li button")?.closest("li[id]").id ?? "";
  for (const menu of document.querySelectorAll("#conversations .more[open]")) if (!menu.contains(event.target)) menu.open = false;
});

// Shift+F10 or the menu key on a row opens its menu; Esc closes it.
document.addEventListener("keydown", (event) => {
  const row = event.target.closest?.("#conversations li[id]"), menu = row?.querySelector(".more");
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
