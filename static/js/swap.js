// Changes the model, or turns tools off: sent over the socket, shown when the server confirms it.
import { newId } from "./ids.js";
import { say } from "./status.js";
import { refreshWelcome } from "./title.js";
import { refresh } from "./picker.js";
import { offer } from "./unknown.js";

const field = document.getElementById("text");

let due, current, next;
// One at a time, and one more after all changes meanwhile: htmx would replace a picker that has left the page by then.
const show = (path) => next ??= Promise.resolve(current).then(() => {
  current = next, next = null;
  return htmx.ajax("GET", `${path}picker/`, { target: "#picker", swap: "outerHTML" }).catch(() => {});
});

export const refreshPicker = async (path) => {
  clearTimeout(due);
  if (!document.querySelector("#transcript .message")) refreshWelcome(path);
  await show(path);
  refresh();
  offer();
  field.placeholder = `Message ${document.getElementById("picker").dataset.name || "a model"}`;
};

// The mark of the model, also in an empty chat, counts the steps of its test; those of one second arrive together.
const showMark = async (path) => {
  await show(path);
  const mark = document.querySelector("#picker .ev");
  if (mark) document.querySelector(".welcome .ev")?.replaceWith(mark.cloneNode(true));
};
export const refreshMark = (path) => {
  clearTimeout(due);
  due = setTimeout(showMark, 200, path);
};

export const start = (send) => {
  document.addEventListener("model:chosen", (event) => {
    const sent = send({ type: "model.select", client_id: newId(), model: event.detail });
    if (!sent) say("The server cannot be reached; the model stays as it is.", "off");
    field.focus();
  });
  document.addEventListener("tools:switched", ({ detail: on }) => {
    const sent = send({ type: "tools.switch", on }), box = document.getElementById("tools-switch");
    // A box that was pressed has changed already.
    box.checked = box.defaultChecked = sent ? on : box.defaultChecked;
    if (!sent) return void say("The server cannot be reached; the tools stay as they are.", "off");
    say(on ? "Tools are offered in this chat." : "Tools are off in this chat.");
  });
};

document.addEventListener("change", ({ target }) => {
  if (target.id === "tools-switch") document.dispatchEvent(new CustomEvent("tools:switched", { detail: target.checked }));
});
