// Questions in the chat: answered by buttons, or by the keys A C E D while their card has the focus.
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

const answerKey = (event) => {
  if (!wanted("keys") || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("textarea, input")) return;
  const form = event.target.closest("[data-call]")?.querySelector("[data-question]");
  const control = form?.querySelector(`[data-answer-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!control) return;
  event.preventDefault();
  event.stopPropagation();
  control.click();
};

// Before the single keys of the page: in a card that asks, C means the chat's permission, not the composer.
document.getElementById("chat").addEventListener("keydown", answerKey);

// Approvals come with the card of their call; what is asked about a model stands by itself and takes nobody's focus.
const learning = (frame) => {
  putMessage(frame.html);
  say("There is a question about this model.", "ask");
};
const ELSEWHERE = { unknown_model: unknown.asked, runtime_learning: learning };

export const asked = (frame) => {
  if (ELSEWHERE[frame.kind]) return void ELSEWHERE[frame.kind](frame);
  show(), look();
  say("");
  const text = document.getElementById("text");
  // The focus goes to the question only if nobody is writing something else.
  if (!text.value.trim()) document.querySelector(`#question-${frame.question} button`)?.focus({ preventScroll: false });
};

export const closed = (frame) => {
  document.getElementById(`question-${frame.question}`)?.remove();
  show(), look();
  if (frame.answer === "expired") say("Nobody answered in time: it was not run.");
};
