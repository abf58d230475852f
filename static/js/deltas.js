// Streaming text: appended at its offset (UTF-16 code units, as `length` counts), never guessed.
import { growing } from "./blocks.js";
import { messageOf } from "./transcript.js";

const GROWING = ".message[data-role=assistant]:is([data-finished=false], :has(.call[data-status=running]))";
const waiting = new Map();

const place = (message, field) => messageOf(message)?.querySelector(`[data-finished=false] [data-${field}]`);

class GrowingThought {
  constructor(place) {
    if (!place.firstChild) place.append("");
    this.text = place.firstChild;
  }

  get length() { return this.text.length; }

  append(piece) { this.text.appendData(piece); }

  replace(text) { this.text.data = text; }
}

const textOf = (field, element) => (field === "text" ? growing(element) : new GrowingThought(element));

const unfold = (message, field) => {
  const box = messageOf(message).querySelector(".thinking");
  if (field === "thinking" && box.hidden) {
    box.hidden = false;
    box.dataset.since = Date.now();
  } else if (field === "text" && box.dataset.since) {
    const seconds = (Date.now() - box.dataset.since) / 1000;
    box.querySelector("[data-thought]").textContent = `Thought for ${seconds.toFixed(1)} s`;
    delete box.dataset.since;
  }
};

export const apply = (field, frame, send) => {
  const element = place(frame.message, field);
  if (!element) return;
  const buffered = waiting.get(frame.message);
  if (buffered) return void buffered.push([field, frame]);
  const text = textOf(field, element);
  if (frame.offset > text.length) {
    waiting.set(frame.message, [[field, frame]]);
    return void send({ type: "turn.resync", message: frame.message });
  }
  unfold(frame.message, field);
  text.append(frame.text.slice(text.length - frame.offset));
};

// Adds a finished block. If the block before it is missing, all blocks are requested.
export const block = (frame, send) => {
  const element = place(frame.message, "text");
  if (!element) return;
  const buffered = waiting.get(frame.message);
  if (buffered) return void buffered.push(["block", frame]);
  if (growing(element).block(frame)) return;
  waiting.set(frame.message, []);
  send({ type: "turn.resync", message: frame.message });
};

export const resync = (frame, send) => {
  for (const field of ["text", "thinking"]) {
    const element = place(frame.message, field);
    if (!element) continue;
    textOf(field, element).replace(frame[field]);
    if (frame[field]) unfold(frame.message, field);
  }
  const buffered = waiting.get(frame.message) ?? [];
  waiting.delete(frame.message);
  for (const [field, late] of buffered) field === "block" ? block(late, send) : apply(field, late, send);
};

// After a lost connection, open requests get no answer: request again every message that still grows.
export const restart = (send) => {
  waiting.clear();
  for (const element of document.querySelectorAll(GROWING)) {
    const message = Number(element.dataset.message);
    waiting.set(message, []);
    send({ type: "turn.resync", message });
  }
};

// Text in the loaded page is shown like text that follows.
for (const element of document.querySelectorAll("[data-finished=false] [data-text]")) growing(element);
