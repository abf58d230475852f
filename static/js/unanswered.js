// A request of a button or field that failed is reported: in the status line of its form, or beside it.
import { say } from "./notices.js";

// What a page fetches by itself is fetched again.
const BY_PERSON = ["click", "submit", "change", "input", "toggle"];
const byPerson = ({ requestConfig }) => BY_PERSON.includes(requestConfig.triggeringEvent?.type);

const report = ({ target, detail }) => {
  const { xhr } = detail;
  if (!byPerson(detail) || target.closest("[data-switching]")) return;
  const words = !xhr.status ? "The server cannot be reached. Try again in a moment."
    : xhr.status < 500 ? `The server refused this (${xhr.status}). Reload the page.` : "The server failed. Its log has the reason.";
  const line = target.closest("form")?.querySelector("[data-status-line]");
  if (line) line.textContent = words;
  else say(target, words);
};

for (const failure of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) document.addEventListener(failure, report);
document.addEventListener("htmx:beforeRequest", ({ detail }) => byPerson(detail) && document.querySelector("[data-notice]")?.remove());

// A part that is shown as a page of its own lacks the place for the reply: its form is sent without htmx.
for (const form of document.querySelectorAll('form[hx-target^="#"]'))
  if (!document.querySelector(form.getAttribute("hx-target"))) form.removeAttribute("hx-post");
