// Choosing another model: asked for over the socket, shown when the server has said so.
import { newId } from "./composer.js";
import { say } from "./status.js";
import { refreshWelcome } from "./title.js";
import "./picker.js";

const field = document.getElementById("text");

export const refreshPicker = async (path) => {
  if (!document.querySelector("#transcript .message")) refreshWelcome(path);
  await htmx.ajax("GET", `${path}picker/`, { target: "#picker", swap: "outerHTML" });
  field.placeholder = `Message ${document.getElementById("picker").dataset.name || "a model"}`;
};

export const start = (send) => {
  document.addEventListener("model:chosen", (event) => {
    const sent = send({ type: "model.select", client_id: newId(), model: event.detail });
    if (!sent) say("The server cannot be reached; the model stays as it is.", "off");
    field.focus();
  });
};
