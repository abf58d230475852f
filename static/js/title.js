// Updates the parts of the page that a message or a swap changes, from the server's current page.
import { refresh } from "./times.js";

// Search results stay.
const searching = () => document.getElementById("search").value;

const asked = {};
const takeOver = async (path, places) => {
  const number = asked[places] = (asked[places] ?? 0) + 1;
  const page = new DOMParser().parseFromString(await (await fetch(path)).text(), "text/html");
  if (number !== asked[places]) return;
  const focused = document.activeElement, row = focused?.closest("#conversations li[id]")?.id;
  for (const place of places.filter((one) => one !== "#conversations" || !searching())) {
    const fresh = document.adoptNode(page.querySelector(place)), menu = document.querySelector(`${place} .more[open]`);
    // An open menu stays, with what is written in it.
    if (menu) fresh.querySelector(`#${menu.closest("li").id} > .more`)?.replaceWith(menu);
    document.querySelector(place).replaceWith(fresh);
    htmx.process(fresh);
  }
  // The mark of an answer that ended meanwhile in the background stays.
  document.title = (document.title.startsWith("● ") ? "● " : "") + page.title;
  refresh();
  // The focused row keeps the focus, and the rows show their states again.
  if (row) (focused.isConnected ? focused : document.getElementById(row)?.querySelector("a"))?.focus();
  document.dispatchEvent(new Event("chats:replaced"));
};

// The first message gives the conversation its title.
export const refreshTitle = (path) => takeOver(path, [".chat-head h1", "#conversations"]);

// The welcome names the model that answers.
export const refreshWelcome = (path) => takeOver(path, [".welcome"]);
