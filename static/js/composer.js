// The text field: Enter sends or queues, a draft survives a reload, a message is kept until the server has it.
import * as chips from "./chips.js";
import { obey } from "./commands.js";
import { newId } from "./ids.js";
import { asking, enqueue } from "./queue.js";
import { say } from "./status.js";
import { stored } from "./stored.js";

const [form, field, sendButton, stopButton] = ["composer", "text", "send", "stop"].map((id) => document.getElementById(id));

const LIMIT = 64 * 1024;
let send = () => false;
let pending = JSON.parse(stored("pending") || "null");
let parent, running = false;

const queues = () => running && !asking();

// Only with a real keyboard: a screen keyboard would cover the page.
const focus = () => matchMedia("(pointer: fine)").matches && field.focus({ preventScroll: true });
const leaves = (button) => button === document.activeElement && focus();

export const show = () => {
  if (pending || (running && !field.value.trim())) leaves(sendButton);
  if (!running) leaves(stopButton);
  const name = queues() ? "Send after this answer" : "Send";
  sendButton.hidden = running && !field.value.trim();
  Object.assign(sendButton, { ariaLabel: name, title: name, disabled: Boolean(pending) });
  sendButton.classList.toggle("main", !queues());
  stopButton.hidden = !running;
  field.readOnly = Boolean(pending);
  if (!CSS.supports("field-sizing", "content")) field.rows = Math.min(10, field.value.split("\n").length);
};

const keep = (value) => {
  pending = value;
  stored("pending", value && JSON.stringify(value));
  show();
};

const clear = () => {
  field.value = "";
  if (parent === undefined) stored("draft", "");
  show();
};

// The same client_id each time: sent twice, it is still one message.
export const flush = () => {
  if (pending && !send({ type: "message.send", ...pending })) say("Your message is sent as soon as the server is back.");
};

const leave = (paths) => { clear(), chips.clear(paths), edit(); };

export const submit = () => {
  if (pending) return;
  if (!field.value.trim()) return void (chips.attached() && say("Write a message to send with the files.", "ask"));
  const { text, done } = obey(field.value.trim());
  if (done) return void clear();
  if (new Blob([text]).size > LIMIT) return void say("A message may have 64 KiB at most. Put longer text into a file.", "off");
  if (chips.unready()) return void say(chips.unready(), "ask");
  if (queues()) return void (enqueue(text, parent, chips.attached()) && leave());
  keep({ client_id: newId(), text, parent, attachments: chips.attached() });
  flush();
};

export const accepted = (clientId) => {
  if (pending?.client_id !== clientId) return;
  const { attachments = [] } = pending;
  keep(null), leave(attachments);
  document.dispatchEvent(new Event("message:accepted"));
};

// The next message is sent as a sibling of the edited one, after `after`; undefined ends the editing. The draft and its files wait.
export const edit = (text, after) => {
  const editing = after !== undefined, before = isEditing();
  [parent, document.getElementById("editing").hidden] = [after, !editing];
  if (text !== undefined || before) field.value = text ?? stored("draft") ?? "";
  if (editing) before ? chips.clear() : chips.setAside();
  else if (before) chips.bringBack();
  if (text !== undefined) field.focus();
  show();
};

export const refused = (clientId) => pending?.client_id === clientId && keep(null);

export const isRunning = () => running;
export const isEditing = () => parent !== undefined;
export const setRunning = (on) => {
  [running, stopButton.disabled] = [on, false];
  show();
};

export const stop = () => {
  if (!send({ type: "turn.stop" })) return;
  leaves(stopButton);
  stopButton.disabled = true, say("Stopping…");
};

export const start = (sender) => {
  send = sender;
  field.value = pending?.text ?? stored("draft") ?? "";
  show();
  focus();
};

form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
stopButton.addEventListener("click", stop);
document.getElementById("edit-cancel").addEventListener("click", () => { edit(), field.focus(); });
// The queued message returns in front of the text typed since.
document.addEventListener("message:edit", ({ detail }) => {
  edit([detail.text, field.value].filter((text) => text.trim()).join("\n"), detail.parent);
  field.dispatchEvent(new Event("input"));
  detail.attachments?.forEach(chips.put);
});
field.addEventListener("input", () => {
  if (parent === undefined) stored("draft", field.value);
  show();
});
