// Questions in the chat: answered by buttons, or by the keys A F C E D while their card has the focus.
import { show } from "./composer.js";
import { look } from "./queue.js";
import { say } from "./status.js";
import * as unknown from "./unknown.js";
import { wanted } from "./preferences.js";
import { putMessage } from "./transcript.js";
import "./waiting.js";

// The status line of a page that was opened while an answer was not over; an approval has a line of its own.
export const goesOn = () =>
  say(document.querySelector("[data-call] [data-question]") ? "" : "Answering…");

// What is opened in an approval is there to write in, from the next key on: each letter is a key of the approval or page.
const write = (edit) => {
  if (!edit?.open || edit.contains(document.activeElement) && document.activeElement.matches("textarea")) return;
  edit.querySelector("textarea").focus({ preventScroll: true });
  edit.scrollIntoView({ block: "center" });
};

// A click or key that a person was about to give to something else, or a held key, answers nothing.
const GRACE = 500; // ms
const wait = (form) => {
  const { style } = form.querySelector("fieldset");
  style.pointerEvents = "none";
  clearTimeout(form.dataset.early);
  form.dataset.early = setTimeout(() => { delete form.dataset.early, style.pointerEvents = ""; }, GRACE);
};
const give = (button) => {
  wait(button.closest("[data-question]"));
  button.focus({ preventScroll: true });
};
const unmeant = (event) => {
  const form = event.target.closest("[data-call]")?.querySelector("[data-question]");
  const acts = event.key.length === 1 || event.key === "Enter", held = event.ctrlKey || event.metaKey || event.altKey;
  if (!form || !acts || held || event.target.closest("textarea, input")) return;
  if (event.repeat || "early" in form.dataset) event.preventDefault(), event.stopImmediatePropagation();
};

const answerKey = (event) => {
  if (!wanted("keys") || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("textarea, input")) return;
  const form = event.target.closest("[data-call]")?.querySelector("[data-question]");
  const control = form?.querySelector(`[data-answer-key="${CSS.escape(event.key.toLowerCase())}"]`);
  const edits = control && form.querySelector('.edit[open] [name^="argument."]');
  if (!control?.checkVisibility() && !edits) return;
  event.preventDefault();
  event.stopPropagation();
  if (!control.checkVisibility()) return say("While you edit, only your version can be allowed.", "ask");
  control.click();
  write(control.closest(".edit"));
};

// Esc leaves what is opened in an approval; outside of it, Esc stops the answer.
const leave = (event) => {
  const opened = event.key === "Escape" && event.target.closest(".approval .edit[open]");
  if (!opened) return;
  event.stopPropagation();
  opened.open = false;
  opened.querySelector("summary").focus();
};

// Runs before the single keys of the page: in an approval, C allows in this chat.
document.getElementById("chat").addEventListener("keydown", unmeant);
document.getElementById("chat").addEventListener("keydown", answerKey);
document.getElementById("chat").addEventListener("keydown", leave);

document.getElementById("transcript").addEventListener("toggle", ({ target }) => {
  if (target.matches(".approval .edit")) write(target);
}, { capture: true });

// An approval arrives with the card of its call; a question about a model is separate and takes no focus.
const learning = (frame) => {
  putMessage(frame.html);
  say("There is a question about this model.", "ask");
};
const ELSEWHERE = { unknown_model: unknown.asked, runtime_learning: learning };

const OPEN = "#transcript [data-call] [data-question]";
const met = new Set([...document.querySelectorAll(OPEN)].map(({ id }) => id));

// An approval gets the focus together with its card, so that its keys work as soon as it is seen: not from another
// approval, a dialog or a text that a person writes.
export const meet = () => {
  const fresh = [...document.querySelectorAll(OPEN)].filter(({ id }) => !met.has(id)), here = document.activeElement;
  for (const form of fresh) met.add(form.id), wait(form);
  // A sent message stays in its read-only field until the server accepts it: nobody is typing there.
  const writes = (field) => !field.readOnly && field.value?.trim();
  const busy = here.closest("[data-question], dialog, .menu") || writes(here) || writes(document.getElementById("text"));
  if (!busy && fresh[0]) give(fresh[0].querySelector("button"));
};

export const asked = (frame) => {
  if (ELSEWHERE[frame.kind]) return void ELSEWHERE[frame.kind](frame);
  show(), look();
  say("");
  meet();
};

export const closed = (frame) => {
  const form = document.getElementById(`question-${frame.question}`), card = form?.closest("[data-call]");
  const focused = form?.contains(document.activeElement) || document.activeElement === document.body;
  form?.remove();
  // The second click of two was not meant for the approval that is in that place now.
  document.querySelectorAll(OPEN).forEach(wait);
  show(), look();
  // The focus was in what is gone: the next approval takes it, or the row of the call.
  if (card && focused) {
    const next = document.querySelector("[data-call] [data-question] button");
    next ? give(next) : card.querySelector("summary").focus({ preventScroll: true });
  }
  if (frame.answer === "expired") say("The approval expired. Nothing was run.");
};
