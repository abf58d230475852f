// Answers in other chats that end or need approval: a line on this page, the title, a notification; their states for the list.
import { compare, words } from "./news_rules.js";
import { wanted } from "./preferences.js";

const { answers: path, person } = document.body.dataset;
const EVERY = 3_000, SLOW = 15_000, LINES = 3, MARK = "● ", KEY = `answers:${person}`, STARTED = `answering:${person}`;
const place = document.getElementById("news"), template = document.getElementById("news-line");
const chat = document.getElementById("chat")?.dataset.conversation;
let timer, asked = 0;

// The lines follow what this tab has shown, the dots what any tab has.
const read = (store) => {
  try { return JSON.parse(store().getItem(KEY)); } catch { return null; }
};
const keep = (store, value) => {
  try { store().setItem(KEY, JSON.stringify(value)); } catch { /* no storage: nothing is news */ }
};

const unmark = () => {
  if (document.title.startsWith(MARK)) document.title = document.title.slice(MARK.length);
};

// The lines never cover what has the focus: they move to the other end of the screen, there above the message box, which
// is at the end of the screen as soon as the chat has messages.
const moveAside = ({ target }) => {
  const box = place.getBoundingClientRect(), one = target.getBoundingClientRect();
  const meet = box.left < one.right && one.left < box.right && box.top < one.bottom && one.top < box.bottom;
  if (!meet || place.contains(target) || one.height > innerHeight / 2) return;
  const below = document.querySelector(".composer")?.offsetHeight ?? 0;
  place.style.insetBlock = place.style.insetBlock ? "" : `auto calc(${below}px + 2 * var(--s3))`;
};

const show = (one) => {
  const line = template.content.firstElementChild.cloneNode(true);
  line.dataset.chat = one.chat;
  line.querySelector("[data-title]").textContent = one.title;
  line.querySelector("[data-words]").textContent = words(one);
  Object.assign(line.querySelector("[data-open]"), { href: `/chat/${one.chat}/`, ariaLabel: `Open ${one.title}` });
  for (const old of place.children) if (old.dataset.chat === one.chat) old.remove();
  place.append(line);
  while (place.children.length > LINES) place.firstElementChild.remove();
  moveAside({ target: document.activeElement });
};

const notify = (one) => {
  if (!wanted("notify") || globalThis.Notification?.permission !== "granted") return;
  const shown = new Notification(one.title, { body: `${one.title} ${words(one)}`, tag: one.chat });
  shown.onclick = () => {
    focus();
    if (one.chat !== chat) location.assign(`/chat/${one.chat}/`);
    shown.close();
  };
};

const tell = (one) => {
  if (one.chat !== chat) show(one);
  if (!document.hidden) return;
  unmark();
  document.title = MARK + document.title;
  notify(one);
};

const take = (answers) => {
  const here = document.hidden ? "" : chat;
  const tab = compare(read(() => sessionStorage), answers, here), all = compare(read(() => localStorage), answers, here);
  keep(() => sessionStorage, tab.after);
  keep(() => localStorage, all.after);
  tab.news.forEach(tell);
  const unread = Object.keys(all.after).filter((id) => all.after[id].unread);
  document.dispatchEvent(new CustomEvent("answers", { detail: { answers, unread } }));
};

const later = (answers) => {
  const open = answers.filter((one) => one.state !== "ended");
  const fast = !document.hidden && open.some((one) => one.state === "answering");
  if (open.length) timer = setTimeout(look, fast ? EVERY : SLOW);
};

const look = async () => {
  clearTimeout(timer);
  const number = ++asked;
  try {
    const answer = await fetch(path, { redirect: "manual" });
    if (!answer.ok) return;
    const { answers } = await answer.json();
    if (number !== asked) return;
    take(answers);
    clearTimeout(timer);
    later(answers);
  } catch { timer = setTimeout(look, SLOW); }
};

// An answer of this tab's chat begins, waits, goes on or ends: the other tabs look too.
const follow = (transcript) => {
  const changed = (records) => records.some(({ target, oldValue }) => target.dataset.turn !== oldValue);
  const moved = () => {
    try { localStorage.setItem(STARTED, Date.now()); } catch { /* this tab only */ }
    look();
  };
  document.addEventListener("approvals", moved);
  new MutationObserver((records) => changed(records) && moved())
    .observe(transcript, { attributeFilter: ["data-turn"], attributeOldValue: true });
};

if (path) {
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) unmark();
    look();
  });
  addEventListener("storage", (event) => event.key === STARTED && look());
  place.addEventListener("click", (event) => {
    if (!event.target.closest("[data-dismiss]")) return;
    event.target.closest(".line").remove();
    (place.querySelector("[data-dismiss]") ?? document.getElementById("main")).focus();
  });
  document.addEventListener("focusin", moveAside);
  if (chat) follow(document.getElementById("transcript"));
  look();
}
