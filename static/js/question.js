// Questions in the chat: answered by buttons, or by the keys A C E D while their card has the focus.
import { show } from "./composer.js";
import { say } from "./status.js";
import { putMessage } from "./transcript.js";

const answerKey = (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("textarea, input")) return;
  const form = event.target.closest("[data-call]")?.querySelector("[data-question]");
  const control = form?.querySelector(`[data-answer-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!control) return;
  event.preventDefault();
  event.stopPropagation();
  control.click();
};

// Before the single keys of the page: in a card that asks, C means the chat's permission, not the composer.
document.getElementById("chat").addEventListener("keydown", answerKey);

// Approvals come with the card of their call; what is asked about a model stands by itself.
const ABOUT_MODELS = new Set(["runtime_learning"]);

export const asked = (frame) => {
  if (ABOUT_MODELS.has(frame.kind)) {
    putMessage(frame.html);
    say("There is a question about this model.", "ask");
    return;
  }
  show();
  say("A tool is waiting for your approval.", "ask");
  const text = document.getElementById("text");
  // The focus goes to the question only if nobody is writing something else.
  if (!text.value.trim()) document.querySelector(`#question-${frame.question} button`)?.focus({ preventScroll: false });
};

export const closed = (frame) => {
  document.getElementById(`question-${frame.question}`)?.remove();
  show();
  if (frame.answer === "expired") say("Nobody answered in time: it was not run.");
};
