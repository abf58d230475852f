// The earlier messages of a long chat: fetched by a button, when a reader scrolls up to it, or for a link to one of them.
import { nameOnce } from "./names.js";
import { keepFocus } from "./refocus.js";

const PATH = `/chat/${document.getElementById("chat").dataset.conversation}/messages/`;
const log = document.getElementById("transcript");
const button = () => document.getElementById("earlier");
let busy = false, last = 0;

// The first shown message: a later fetch must reach back at least this far.
export const path = () => {
  const first = log.querySelector("[data-message]")?.dataset.message;
  return first ? `${PATH}?since=${first}` : PATH;
};

const insert = (html, old) => {
  const fresh = new DOMParser().parseFromString(html, "text/html").getElementById("transcript");
  const anchor = old.nextElementSibling, top = anchor.getBoundingClientRect().top;
  const messages = [...fresh.children].map((child) => document.adoptNode(child));
  log.ariaLive = "off";
  keepFocus(old, () => old.replaceWith(...messages));
  nameOnce(log);
  for (const message of messages) htmx.process(message);
  scrollBy({ top: anchor.getBoundingClientRect().top - top, behavior: "instant" });
  setTimeout(() => { log.ariaLive = null; }, 1000);
};

const load = async (since) => {
  const old = button();
  if (busy || !old) return;
  busy = true;
  try {
    const response = await fetch(`${PATH}?since=${since ?? old.dataset.since}&until=${old.dataset.until}`);
    const html = await response.text();
    // A transcript that was fetched meanwhile may begin elsewhere, with another button.
    if (response.ok && old.isConnected) insert(html, old);
  } catch { /* The server is away: the button stays. */ }
  busy = false;
};

log.addEventListener("click", ({ target }) => { if (target.id === "earlier") load(); });
addEventListener("scroll", () => {
  const place = scrollY < last && button()?.getBoundingClientRect();
  last = scrollY;
  if (place && place.bottom > 0) load();
}, { passive: true });

const linked = async () => {
  const id = /^#message-(\d+)$/.exec(location.hash)?.[1];
  if (!id) return;
  if (!document.getElementById(`message-${id}`)) await load(id);
  document.getElementById(`message-${id}`)?.scrollIntoView();
};
addEventListener("hashchange", linked);
linked();
