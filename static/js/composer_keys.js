// Keys of the message field: Enter sends, ↑ in an empty field edits the last message, Esc ends the editing, stops the answer or leaves the field.
import "./slash.js";
import "./attachments.js";
import { edit, isEditing, isRunning, stop, submit } from "./composer.js";

const field = document.getElementById("text");
const lastEdit = () => [...document.querySelectorAll("#transcript [data-edit]")].at(-1);

field.addEventListener("keydown", (event) => {
  if (event.shiftKey) return;
  if (event.key === "ArrowUp" && !field.value && !isRunning() && lastEdit()) lastEdit().click();
  else if (event.key === "Enter") submit();
  else return;
  event.preventDefault();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || document.querySelector(":popover-open, dialog[open]")) return;
  if (isEditing()) edit();
  else if (isRunning()) stop();
  else if (event.target === field) field.blur();
});
