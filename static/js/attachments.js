// How files come to a message: chosen with the paperclip, pasted, or dropped anywhere on the chat.
import { size } from "./chip.js";
import { add, put } from "./chips.js";
import { say } from "./status.js";
import { shared } from "./stored.js";

const LONG = 8 * 1024;
const chat = document.getElementById("chat"), picker = document.getElementById("file"), field = document.getElementById("text");
const carries = (transfer) => transfer?.types.includes("Files");

document.getElementById("attach").addEventListener("click", () => picker.click());
picker.addEventListener("change", () => {
  const files = [...picker.files];
  picker.value = "";
  add(files);
});

// A long text would fill the field and the context: it becomes a file, which the model can read piece by piece.
field.addEventListener("paste", (event) => {
  const files = [...event.clipboardData.files], text = event.clipboardData.getData("text/plain");
  const long = new Blob([text]).size > LONG;
  if (!long && (text || !files.length)) return;
  event.preventDefault();
  add(long ? [new File([text], "pasted.txt", { type: "text/plain" })] : files);
});

const hover = (on) => chat.toggleAttribute("data-dropping", on);
document.addEventListener("dragover", (event) => {
  if (!carries(event.dataTransfer)) return;
  event.preventDefault();
  hover(true);
});
document.addEventListener("dragleave", (event) => event.relatedTarget || hover(false));
document.addEventListener("drop", (event) => {
  if (!carries(event.dataTransfer)) return;
  event.preventDefault();
  hover(false);
  const items = [...event.dataTransfer.items].filter(({ kind }) => kind === "file");
  const files = items.filter((item) => !item.webkitGetAsEntry()?.isDirectory);
  if (files.length) add(files.map((item) => item.getAsFile()));
  if (files.length < items.length) say("A folder cannot be attached. Drop its files instead.", "off");
});

// Files of a message that was not sent yet, by this page or another one; the queued message holds its own.
const queued = JSON.parse(shared("queued") || "null")?.attachments ?? [];
for (const { path, size: bytes } of JSON.parse(document.getElementById("attached").dataset.pending)) {
  if (queued.includes(path)) continue;
  Object.assign(put(path), { pending: true }).querySelector("[data-note]").textContent = size(bytes);
}
