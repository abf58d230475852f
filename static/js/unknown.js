// The card about an unmeasured model, with its countdown, and the tests that run above the composer.
import { newId } from "./ids.js";
import { say } from "./status.js";
import { stored } from "./stored.js";

const place = () => document.getElementById("asks");
const card = () => place().querySelector("[data-unknown]");
const SECONDS = 30;
let send = () => false;
let left = SECONDS, counted = "";

const look = () => document.body.dispatchEvent(new Event("asks:look"));
// The click for missing tools may have changed; a question and a test, also one that is over, stay as they are.
export const offer = () => place().querySelector("[data-unknown], .test") ?? look();

const fold = (shown) => {
  shown.open = false;
  stored("folded", shown.dataset.unknown);
};

const show = (shown) => {
  shown.querySelector("progress").value = left;
  shown.querySelector("[data-left]").textContent = left ? `Chatting without tools in 0:${String(left).padStart(2, "0")}` : "Chatting without tools";
};

// The countdown pauses while the card has the focus and while the page is hidden.
const tick = () => {
  const shown = card();
  if (!shown || document.hidden) return;
  if (counted !== shown.dataset.unknown) {
    counted = shown.dataset.unknown;
    left = stored("folded") === counted ? 0 : SECONDS;
    if (!left) shown.open = false;
    show(shown);
  }
  if (!left || shown.contains(document.activeElement)) return;
  left -= 1;
  show(shown);
  if (!left) fold(shown);
};

export const asked = (frame) => {
  place().querySelector("[data-unknown]")?.remove();
  place().insertAdjacentHTML("afterbegin", frame.html);
  htmx.process(place());
  say(frame.text, "read");
};

// A question without an answer is reported once; a test that has ended was read by now.
const sent = () => {
  const shown = card();
  if (shown && !left) send({ type: "question.answer", client_id: newId(), question: Number(shown.dataset.unknown), answer: "none" });
  for (const test of place().querySelectorAll(".test:not([data-open])")) test.remove();
};

export const progress = (frame) => {
  if (frame.step && !document.getElementById(`test-${frame.detection}`)) look();
};

// The list of steps is reloaded each second. It keeps its scroll position until another step runs.
let scrolled = 0, running = -1;
const steps = () => place().querySelector(".steps");
const keep = () => { scrolled = steps()?.scrollTop ?? 0; };
const follow = () => {
  const list = steps();
  if (!list) return;
  const now = [...list.children].findIndex((step) => step.dataset.state === "running");
  list.scrollTop = scrolled;
  if (now !== running) list.children[now]?.scrollIntoView({ block: "nearest" });
  running = now;
};

export const start = (sender) => {
  send = sender;
  place().addEventListener("htmx:beforeSwap", keep);
  place().addEventListener("htmx:afterSettle", follow);
  document.addEventListener("message:accepted", sent);
  document.addEventListener("model:test", ({ detail: model }) => {
    if (!send({ type: "detection.start", model })) say("The server cannot be reached; nothing was tested.", "off");
  });
};

setInterval(tick, 1000);
