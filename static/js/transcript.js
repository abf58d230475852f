// Adds and replaces the elements of the transcript, and updates them from the server's HTML.
import { fetched } from "./lost.js";
import { nameOnce } from "./names.js";
import { keepFocus } from "./refocus.js";
import { settle } from "./settle.js";

export const transcript = () => document.getElementById("transcript");
export const messageOf = (id) => document.getElementById(`message-${id}`);

const FOCUSABLE = "summary, button, a[href], pre[tabindex]";

const parse = (html) => {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content.firstElementChild;
};

// When an element is replaced, opened parts stay open and the focus stays.
const keep = (old, fresh) => {
  const before = [old, ...old.querySelectorAll("details")], after = [fresh, ...fresh.querySelectorAll("details")];
  before.forEach((element, index) => {
    // An approval opens its card; once answered it is a row again.
    const same = element.id ? after.find((one) => one.id === element.id) : after[index];
    if (!same?.matches("details") || (element === old && old.dataset.status === "waiting")) return;
    // A chart opens its card once; a reader may close it.
    if (element.open || (same.dataset.status ?? "") === element.dataset.status) same.open = element.open;
  });
  return [...old.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement);
};

const replace = (old, fresh) => keepFocus(old, () => {
  const focused = keep(old, fresh);
  const shown = settle(old, fresh) ? old : fresh;
  if (shown === fresh) old.replaceWith(fresh);
  htmx.process(shown);
  if (focused >= 0) shown.querySelectorAll(FOCUSABLE)[focused]?.focus({ preventScroll: true });
});

const put = (parent, fresh) => {
  const old = document.getElementById(fresh.id);
  if (old) return replace(old, fresh);
  parent.append(fresh);
  htmx.process(fresh);
};

export const putMessage = (html) => {
  put(transcript(), parse(html));
  nameOnce(transcript());
};

// A new branch begins after its parent and replaces what followed. Without a parent it is the first message.
export const branchOff = (parent) => {
  if (parent === null) return transcript().replaceChildren();
  const stem = messageOf(parent);
  // Of a long chat the parent may not be on this page: numbers rise along a branch.
  if (!stem) for (const one of [...transcript().children]) if (Number(one.dataset.message) > parent) one.remove();
  while (stem?.nextElementSibling) stem.nextElementSibling.remove();
};

// The row of a group arrives without its cards, which are on the page already. It opens once; a person may close it.
const opened = new WeakSet();
const putGroup = (fresh) => {
  const old = document.getElementById(fresh.id), worked = fresh.querySelector(".worked");
  if (!old) {
    const members = fresh.dataset.members.split(" ").map((id) => document.getElementById(`call-${id}`)).filter(Boolean);
    members[0]?.before(fresh);
    return fresh.querySelector(".calls").prepend(...members);
  }
  const there = old.querySelector(".worked"), fill = (place, from) => place.replaceChildren(...from.childNodes);
  fill(old.querySelector("summary"), fresh.querySelector("summary"));
  if (worked && there) fill(there.querySelector("summary"), worked.querySelector("summary"));
  else if (worked) old.querySelector(".calls").append(worked);
  if (fresh.open && !opened.has(old)) opened.add(old), old.open = true;
};

export const putCall = (message, { html, group }) => {
  const fresh = parse(html), program = document.getElementById(`call-${fresh.dataset.program}`);
  const calls = (program ?? messageOf(message))?.querySelector(program ? "[data-inner]" : "[data-calls]");
  if (!calls) return;
  put(calls, fresh);
  if (group) putGroup(parse(group));
  // A round with tool calls is not an empty answer.
  messageOf(message).querySelector("[data-ended=empty]")?.remove();
};

// A finished message that lacks the cards of newer calls is older than those calls.
export const finishMessage = (html) => {
  const fresh = parse(html), cards = fresh.querySelector("[data-calls]");
  for (const card of messageOf(fresh.dataset.message)?.querySelectorAll("[data-call]") ?? [])
    if (cards && !cards.querySelector(`#${card.id}`)) cards.append(card);
  put(transcript(), fresh);
  nameOnce(transcript());
};

// Fetch the transcript and change only what differs; `address` is that of all shown messages, of which earlier ones may
// arrive during the fetch. Returns false if the server refuses it, null if it cannot be reached.
export const catchUp = async (address) => {
  let url, html;
  do {
    url = address();
    html = await fetched(url);
    if (!html) return html;
  } while (url !== address());
  const fresh = parse(html), here = transcript();
  if (fresh?.id !== "transcript") return null; // a proxy's own page, at whatever status
  const wanted = new Set([...fresh.children].map((child) => child.id));
  keepFocus(here, () => {
    for (const child of [...here.children]) if (!wanted.has(child.id)) child.remove();
    [...fresh.children].forEach((child, index) => {
      const old = document.getElementById(child.id);
      if (!old) here.insertBefore(child, here.children[index] ?? null);
      else if (!old.isEqualNode(child)) replace(old, child);
      htmx.process(child);
    });
  });
  Object.assign(here.dataset, { tail: fresh.dataset.tail, turn: fresh.dataset.turn });
  return true;
};
