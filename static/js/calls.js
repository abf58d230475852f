// Cards of tool calls: written piece by piece, running for long, stopped, run again.
import "./charts.js";
import { newId } from "./ids.js";
import { say } from "./status.js";
import { messageOf } from "./transcript.js";

const LONG = 5;
// So many calls of one tool in a row are one row, as in the finished answer (call_groups.py).
const FEWEST = 3;
const since = new WeakMap();
let send = () => false;

export const start = (sender) => {
  send = sender;
};

// While calls of one tool are written, only the newest of them is shown; a card that a reader opened stays.
const fold = (card) => {
  const same = [card];
  for (let one; (one = same.at(-1).previousElementSibling)?.dataset.tool === card.dataset.tool;) same.push(one);
  if (same.length < FEWEST) return;
  for (const one of same.slice(1)) one.hidden = !one.open;
  card.querySelector(".state").textContent = `${same.length} calls`;
};

const written = ({ message, call, name }) => {
  const cards = messageOf(message)?.querySelector("[data-calls]");
  const there = cards && [...cards.children].find((card) => card.dataset.writing === call);
  if (!cards || there) return there;
  const card = document.getElementById("writing").content.firstElementChild.cloneNode(true);
  Object.assign(card.dataset, { writing: call, tool: name });
  card.querySelector("[data-name]").textContent = name;
  cards.append(card);
  fold(card);
  return card;
};

// Adds text at its offset. Missed text is not fetched: the whole text follows.
const grow = (place, frame) => {
  const here = Number(place.dataset.end ?? 0);
  if (!place.firstChild) place.append("");
  if (frame.offset > here) place.firstChild.appendData("…");
  place.firstChild.appendData(frame.text.slice(Math.max(0, here - frame.offset)));
  place.dataset.end = Math.max(here, frame.offset + frame.text.length);
};

// Fills a card that the finished message replaces. Offset 0 means that the call was requested again.
export const delta = (frame) => {
  const place = written(frame)?.querySelector("[data-arguments]");
  if (!place) return;
  if (frame.offset === 0) { place.textContent = ""; place.dataset.end = 0; }
  grow(place, frame);
};

// Calls that turned out to be drafts in the model's reasoning.
export const forget = (message) => {
  for (const card of messageOf(message)?.querySelectorAll("[data-writing]") ?? []) card.remove();
};

// Adds the output of a running tool; a reader who has scrolled up stays there.
export const output = (frame) => {
  const place = document.querySelector(`#call-${frame.call} [data-output]`);
  if (!place) return;
  place.closest("[data-live]").hidden = false;
  const atEnd = place.scrollTop + place.clientHeight > place.scrollHeight - 30;
  grow(place, frame);
  if (atEnd) place.scrollTop = place.scrollHeight;
};

// A call that runs for long shows its time, and can be stopped alone.
setInterval(() => {
  for (const place of document.querySelectorAll(".call[data-status=running] [data-elapsed]")) {
    if (!since.has(place)) since.set(place, Date.now() - (place.dataset.age ?? 0) * 1000);
    const seconds = Math.floor((Date.now() - since.get(place)) / 1000);
    if (seconds < 1) continue;
    place.textContent = `${seconds} s`;
    if (seconds >= LONG) place.closest(".call").querySelector("[data-call-stop]").hidden = false;
  }
}, 1000);

const callOf = (button) => button.closest("[data-call]").dataset.call;

const stop = (button) => {
  if (!send({ type: "call.stop", call: callOf(button) })) return;
  if (button === document.activeElement) button.closest("summary").focus({ preventScroll: true });
  button.disabled = true;
  say("Stopping the tool…");
};

// A stop that was sent as the connection broke may not have arrived.
export const connected = () => {
  for (const button of document.querySelectorAll("[data-call-stop]:disabled")) button.disabled = false;
};

const repeat = (button) => {
  const sent = send({ type: "call.repeat", client_id: newId(), call: callOf(button) });
  if (!sent) say("The server cannot be reached; nothing was run.", "off");
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-call-stop], [data-call-repeat]");
  if (!button) return;
  event.preventDefault();
  (button.matches("[data-call-stop]") ? stop : repeat)(button);
});
