// Continue, Regenerate, Edit and the versions of a message.
import * as chips from "./chips.js";
import * as composer from "./composer.js";
import { newId } from "./ids.js";
import { open } from "./picker.js";
import { say } from "./status.js";
import { messageOf } from "./transcript.js";

const UNREACHED = "The server cannot be reached; nothing was changed.";
const messageAt = (element) => Number(element.closest("[data-message]").dataset.message);
let send = () => false;
let forAnswer = null;

const ask = (frame) => {
  if (!send({ client_id: newId(), ...frame })) say(UNREACHED, "off");
};

// The pressed button is gone while the answer is written.
const answerAgain = (frame) => {
  ask(frame);
  document.getElementById("text").focus({ preventScroll: true });
};

// Another model for one answer: the picker is opened for it, and closing it without a choice cancels that.
const chooseModel = (message) => {
  forAnswer = message;
  document.querySelector(":popover-open")?.hidePopover();  // the picker gives the focus back to the button of the menu
  open().addEventListener("close", () => { forAnswer = null; }, { once: true });
};

const ACTS = {
  "data-go-on": () => answerAgain({ type: "turn.continue" }),
  "data-again": (button) => {
    const message = messageAt(button), mode = button.dataset.again;
    if (mode === "model") chooseModel(message);
    else answerAgain({ type: "turn.regenerate", message, mode });
  },
  "data-raw": (button) => {
    const wire = messageOf(messageAt(button)).querySelector(".wire");
    wire.open = true;
    wire.querySelector("summary").focus();
  },
  "data-branch-here": (button) => composer.edit("", messageAt(button)),
  "data-branch": (button) => button.dataset.branch && ask({ type: "branch.select", message: Number(button.dataset.branch) }),
  "data-edit": (button) => {
    const article = messageOf(messageAt(button));
    composer.edit(article.querySelector("[data-text]").textContent, Number(article.dataset.parent));
    for (const image of article.querySelectorAll(".pictures img")) chips.put(image.alt);
    for (const file of article.querySelectorAll("a.chip")) chips.put(file.textContent.trim());
  },
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("#transcript button");
  const act = button && Object.keys(ACTS).find((name) => button.hasAttribute(name));
  if (act) ACTS[act](button);
});

// Runs before the listener of the conversation, which would change the model for all answers.
document.addEventListener("model:chosen", (event) => {
  if (forAnswer === null) return;
  event.stopImmediatePropagation();
  answerAgain({ type: "turn.regenerate", message: forAnswer, mode: "same", model: event.detail });
  forAnswer = null;
});

export const start = (sender) => {
  send = sender;
};
