// Switches that save at once: a refused switch returns to its old state, with a message; a button counts the selected boxes.
import { say } from "./notices.js";

const NOT_SAVED = "Not saved. The switch is back where it was.";

const refused = ({ target }) => {
  const form = target.closest("[data-switching]");
  if (!form) return;
  for (const box of form.querySelectorAll("input[type=checkbox]")) box.checked = box.defaultChecked;
  say(form, NOT_SAVED);
};

const count = () => {
  for (const button of document.querySelectorAll("[data-counts]")) {
    const chosen = document.querySelectorAll(`input[form="${button.form.id}"]:checked`).length;
    button.textContent = chosen ? `Approve ${chosen} selected` : "Approve selected";
    button.disabled = !chosen;
  }
};

for (const failure of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) document.addEventListener(failure, refused);
document.addEventListener("change", count);
document.addEventListener("htmx:load", count);
count();
