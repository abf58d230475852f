// The message written while an answer runs: kept by the browser for all tabs of the chat, sent once when the answer ended well.
import { newId } from "./ids.js";
import { decide } from "./queue_rules.js";
import { say } from "./status.js";
import { shared, whenShared } from "./stored.js";

const line = document.getElementById("queued");
const part = (name) => line.querySelector(`[data-${name}]`);
const WHY = { wait: "Waits for the answer to end:", approval: "Waits for your approval of the tool:", send: "Sending:" };
let send = () => false, entry = null, sent = "", running = true, opened = false;

const read = () => {
  const kept = shared("queued");
  return kept === undefined ? entry : JSON.parse(kept);
};

const keep = (value) => {
  entry = value;
  shared("queued", value && JSON.stringify(value));
};

// A tool waits for approval: a message sent now replaces the approval; a queued message stays queued.
export const asking = () => Boolean(document.querySelector("#transcript [data-call] [data-question]"));
export const ending = () => [...document.querySelectorAll("#transcript > .message")].at(-1)?.querySelector(":scope > [data-ended]")?.dataset.ended;

const show = (act, why) => {
  const focused = line.contains(document.activeElement);
  line.hidden = !entry;
  if (!entry) return void (focused && document.getElementById("text").focus());
  const count = entry.attachments?.length ?? 0;
  part("why").textContent = entry.note || why || WHY[act];
  part("queued-text").textContent = entry.text;
  part("queued-files").textContent = count ? `${count} file${count === 1 ? "" : "s"}` : "";
  line.querySelector("[data-queue=now]").textContent = running ? "Send now" : "Send";
};

// The same client_id from each tab and each time: the server makes one message of it.
const deliver = () => {
  entry = read();
  if (!entry) return;
  const { client_id, text, parent, attachments } = entry;
  sent = send({ type: "message.send", client_id, text, parent, attachments }) ? client_id : "";
};

const settle = (ended = ending(), age = 0) => {
  const [act, why] = decide({ entry, running, asking: asking(), ended, age });
  if (act === "hold") keep({ ...entry, held: why }), say(why, "read");
  if (act === "send" && sent !== entry.client_id) deliver();
  show(act, why);
};

// Called whenever an answer begins or ends, and when a question is asked; `ended` where a frame just told how.
export const setRunning = (on, ended) => {
  const age = opened || !entry ? 0 : Date.now() - entry.at;
  opened = true;
  running = on;
  if (entry?.note && !on) keep({ ...entry, note: "" });
  settle(ended, age);
};

// A question was asked or answered.
export const look = () => settle();

// A message waits already, or this one does now.
export const enqueue = (text, parent, attachments) => {
  entry = read();
  if (entry) return void say("One message is queued already. Edit it, send it or remove it first.", "ask");
  keep({ client_id: newId(), text, parent, attachments, at: Date.now() });
  say("Queued. It is sent after this answer.", "read");
  settle();
  return true;
};

export const accepted = (clientId) => {
  if (entry?.client_id !== clientId) return;
  sent = "";
  keep(null);
  show();
  document.dispatchEvent(new Event("message:accepted"));
};

// Busy: another answer began first, and the message waits for its end. Anything else needs a person.
export const refused = ({ client_id: clientId, code, text }) => {
  if (entry?.client_id !== clientId) return;
  sent = "";
  keep({ ...entry, now: false, ...(code === "busy" ? { note: `Not sent yet: ${text}` } : { held: `Not sent: ${text}` }) });
  show("held", entry.held);
};

const ACTS = {
  edit: () => {
    const { text, parent, attachments } = entry;
    keep(null), show();
    document.dispatchEvent(new CustomEvent("message:edit", { detail: { text, parent, attachments } }));
  },
  now: () => {
    keep({ ...entry, now: true, note: "" });
    if (!running) settle();
    else if (send({ type: "turn.stop" })) say("Stopping the answer, then sending your message.");
    else say("The server cannot be reached; your message stays queued.", "off");
  },
  remove: () => { keep(null), show(); },
};

line.addEventListener("click", ({ target }) => entry && ACTS[target.dataset.queue]?.());
whenShared("queued", () => {
  entry = read();
  settle();
});

// Connected again: what was sent before and never confirmed is sent once more, under the same id.
export const connected = () => {
  sent = "";
};

export const start = (sender) => void ([send, entry] = [sender, read()]);
