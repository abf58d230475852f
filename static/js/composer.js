// The text field: Enter sends, a draft survives a reload, a message is kept until the server has it.
import { attached, clearAttached } from "./attach.js";
import { obey } from "./commands.js";
import { newId } from "./ids.js";
import { say } from "./status.js";
import { stored } from "./stored.js";

const form = document.getElementById("composer");
const field = document.getElementById("text");
const [sendButton, stopButton] = [document.getElementById("send"), document.getElementById("stop")];

const LIMIT = 64 * 1024;
let send = () => false;
let pending = JSON.parse(stored("pending") || "null");
let parent;
let running = false;

// While a tool waits for an answer, a new message is allowed: it takes the place of the answer.
const asking = () => document.querySelector("#transcript [data-question]");

export const show = () => {
  const free = !running || (asking() && field.value.trim());
  sendButton.hidden = !free;
  stopButton.hidden = free;
  stopButton.disabled = false;
  sendButton.disabled = Boolean(pending);
  field.readOnly = Boolean(pending);
  if (!CSS.supports("field-sizing", "content")) field.rows = Math.min(10, field.value.split("\n").length);
};

const keep = (value) => {
  pending = value;
  stored("pending", value && JSON.stringify(value));
  show();
};

// The same client_id each time: sent twice, it is still one message.
export const flush = () => {
  if (pending && !send({ type: "message.send", ...pending })) say("Your message is sent as soon as the server is back.");
};

export const submit = () => {
  if (!field.value.trim() || pending) return;
  const { text, done } = obey(field.value.trim());
  if (done) clear();
  if (text === undefined || (running && !asking())) return;
  if (new Blob([text]).size > LIMIT) return void say("A message may have 64 KiB at most. Put longer text into a file.", "off");
  keep({ client_id: newId(), text, parent, attachments: attached() });
  flush();
};

const clear = () => {
  field.value = "";
  stored("draft", "");
};

export const accepted = (clientId) => {
  if (pending?.client_id !== clientId) return;
  clear();
  clearAttached();
  keep(null);
  document.dispatchEvent(new Event("message:accepted"));
  edit();
};

// What is sent next stands after `after`, beside the message whose text this is; undefined ends the editing.
export const edit = (text, after) => {
  const leaving = parent !== undefined && after === undefined;
  parent = after;
  document.getElementById("editing").hidden = after === undefined;
  if (text !== undefined || leaving) field.value = text ?? stored("draft") ?? "";
  if (leaving) clearAttached();
  if (text !== undefined) field.focus();
  show();
};

export const refused = (clientId) => {
  if (pending?.client_id === clientId) keep(null);
};

export const setRunning = (on) => {
  running = on;
  show();
};

const stop = () => {
  if (!running || !send({ type: "turn.stop" })) return;
  stopButton.disabled = true;
  say("Stopping…");
};

export const start = (sender) => {
  send = sender;
  field.value = pending?.text ?? stored("draft") ?? "";
  show();
  // Where there is a keyboard one can write at once; elsewhere one would pop up over the page.
  if (matchMedia("(pointer: fine)").matches) field.focus({ preventScroll: true });
};

form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
stopButton.addEventListener("click", stop);
document.getElementById("edit-cancel").addEventListener("click", () => edit());
field.addEventListener("input", () => {
  if (parent === undefined) stored("draft", field.value);
  show();
});
field.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  submit();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || document.querySelector(":popover-open, dialog[open]")) return;
  if (running) stop();
  else if (parent !== undefined) edit();
  else if (event.target === field) field.blur();
});
