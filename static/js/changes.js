// A change that is under way is never aborted: requests that would replace it (hx-sync "replace") wait for its reply.
// Of what waits, changes are sent first: they are about the page as the person saw it, and filters replace that.
const running = new Map(); // part of the page → its request, with what waits for the reply
const asked = new WeakMap(); // element → how htmx was about to send its request

// Requests of the same part replace one another. A form with `data-reads` changes nothing.
const partOf = (element) => {
  const holder = element.closest("[hx-sync]"), [selector, strategy] = holder?.getAttribute("hx-sync").split(":") ?? [];
  if (strategy !== "replace" || "reads" in holder.dataset) return null;
  return selector === "this" ? holder : selector;
};

const changes = ({ verb }) => verb !== "get";
const inOrder = (asks) => [...asks.filter(changes), ...asks.filter((ask) => !changes(ask))];
let deferred = []; // by the change that htmx is about to send

document.addEventListener("htmx:confirm", (event) => {
  const ask = event.detail, part = partOf(ask.elt), before = running.get(part);
  deferred = [];
  if (part) asked.set(ask.elt, ask);
  if (!before) return;
  if (changes(before.ask) || (before.waiting.length && !changes(ask))) {
    event.preventDefault();
    before.waiting = inOrder([...before.waiting.filter(({ elt }) => elt !== ask.elt), ask]);
  } else if (changes(ask)) {
    // It aborts a filter, which is asked for again afterwards.
    running.delete(part);
    deferred = [before.ask, ...before.waiting];
  }
});

// An element that a reply replaced has the same id again; where it has not, a link still leads to its page.
const send = ({ elt, issueRequest, triggeringEvent }) => {
  const now = elt.isConnected ? elt : document.getElementById(elt.id);
  if (now === elt) issueRequest();
  else if (now && triggeringEvent) htmx.trigger(now, triggeringEvent.type);
  else if (elt.href) location.assign(elt.href);
};

const goOn = (part, asks) => {
  while (asks.length && !running.has(part)) send(asks.shift());
  running.get(part)?.waiting.push(...asks);
};

document.addEventListener("htmx:beforeRequest", ({ detail: { xhr, elt } }) => {
  const part = partOf(elt), ask = asked.get(elt);
  if (!part || !ask) return;
  const request = { ask, waiting: deferred };
  deferred = [];
  running.set(part, request);
  xhr.addEventListener("loadend", () => {
    if (running.get(part) !== request) return;
    running.delete(part);
    goOn(part, request.waiting);
  });
});

// A reply does not replace what a waiting change is sent from, with what the person chose there since.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const kept = [...running.values()].flatMap((request) => request.waiting).filter(changes);
  if (kept.some(({ elt }) => detail.target.contains(elt))) detail.shouldSwap = false;
});
