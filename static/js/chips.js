// The chips above the message field: a file on its way, uploaded or refused, each with its own removal.
import { label, make, picture, size } from "./chip.js";
import { say } from "./status.js";
import { isImage, remove, upload } from "./upload.js";

const MOST = 8, IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;
const shelf = document.getElementById("attached");
const chips = () => [...shelf.children];
let aside = [];  // the files of the draft while another message is edited
const refreshPanel = () => document.getElementById("files") && htmx.trigger("#files", "changed");

export const attached = () => {
  const paths = chips().map((chip) => chip.dataset.path).filter(Boolean);
  return paths.length ? paths : undefined;
};

// Why a message cannot be sent yet; "" where nothing is on its way.
export const unready = () => (chips().some((chip) => chip.dataset.state === "sending") ? "Wait for the upload, or remove the file." : "");

export const show = () => {
  shelf.hidden = !shelf.children.length;
  const seen = "vision" in document.getElementById("picker").dataset;
  document.getElementById("unseen").hidden = seen || !shelf.querySelector("img:not([hidden])");
};

// A refused file stays, with its reason, until a person removes it; so do files that are not among the `paths` of a message.
export const clear = (paths) => {
  const leaves = ({ dataset: { state, path } }) => state !== "failed" && (!paths || paths.includes(path));
  for (const chip of chips()) if (leaves(chip)) chip.remove();
  show();
};

export const setAside = () => {
  aside = chips();
  shelf.replaceChildren();
  show();
};

// Files that were uploaded while the message was edited stay: the server has them for the next message.
export const bringBack = () => {
  for (const chip of chips()) if (!chip.file) chip.remove();
  shelf.prepend(...aside);
  aside = [];
  show();
};

const done = (chip, file, { path, note }) => {
  for (const other of chips()) if (other.dataset.path === path) other.remove();
  Object.assign(chip.dataset, { state: "there", path });
  label(chip, path);
  chip.querySelector("[data-note]").textContent = note || size(file.size);
  chip.querySelector("[data-replace]").hidden = !note;
  if (isImage(file)) picture(chip, path);
  if (note) say(note, "read");
  refreshPanel();
};

const failed = (chip, file, error) => {
  const words = `${file.name} was not uploaded. `;
  chip.dataset.state = "failed";
  chip.querySelector("[data-note]").textContent = error.message.replace(words, "");
  say(words + error.message.replace(words, ""), "read");  // shown in the chip
};

const send = async (chip, file, replace = false) => {
  const bar = chip.querySelector("progress"), { signal } = chip.removal;
  chip.dataset.state = "sending";
  try {
    done(chip, file, await upload(file, { replace, signal, progress: (percent) => { bar.value = percent; } }));
  } catch (error) {
    if (!signal.aborted) failed(chip, file, error);
  }
  show();
};

export const add = async (files) => {
  const room = MOST - shelf.children.length;
  if (files.length > room) say(`A message can have up to ${MOST} attachments.`, "off");
  const made = [...files].slice(0, room).map((file) => Object.assign(make(file.name), { file, removal: new AbortController() }));
  for (const chip of made) chip.dataset.state = "sending";
  show();
  for (const chip of made) if (!chip.removal.signal.aborted) await send(chip, chip.file);
};

// Adds a file that is already on the server: of an edited message, or of the queued one.
export const put = (path) => {
  for (const other of chips()) if (other.dataset.path === path) other.remove();
  const chip = make(path);
  Object.assign(chip.dataset, { state: "there", path });
  if (IMAGE.test(path)) picture(chip, path);
  show();
  return chip;
};

// Replaces the file of the same name: the new file is removed and uploaded again under that name.
const replace = async (chip) => {
  await remove(chip.dataset.path);
  chip.querySelector("[data-replace]").hidden = true;
  await send(chip, chip.file, true);
};

// A file that this page uploaded and no message needs leaves the chat's files too.
const drop = async (chip) => {
  chip.removal?.abort();
  chip.remove();
  show();
  document.getElementById("text").focus();
  if (!(chip.file || chip.pending) || !chip.dataset.path) return;
  await remove(chip.dataset.path);
  refreshPanel();
};

shelf.addEventListener("click", (event) => {
  const chip = event.target.closest(".chip");
  if (event.target.closest("[data-remove]")) drop(chip);
  if (event.target.closest("[data-replace]")) replace(chip);
});
document.addEventListener("htmx:afterSwap", show);
