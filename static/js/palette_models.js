// Models in the palette: in a chat they can be chosen and tested at once; T and P act on the one that the arrows marked.
import { pinned, togglePin } from "./pinned.js";

const tell = (name, model) => document.dispatchEvent(new CustomEvent(name, { detail: model }));
const inChat = () => document.getElementById("picker");

export const ofModels = (models) => (inChat() ? models : []).filter(({ element }) => element.dataset.model).flatMap(({ title, element: { dataset } }) => [
  { title: `Switch this chat to ${title}`, key: "↵", act: () => tell("model:chosen", dataset.model) },
  { title: `Test ${title}`, key: "T", act: () => tell("model:test", dataset.model) },
]);

// As in the choice of a model: a letter begins the search unless the field is empty and the arrows have marked a model.
export const letters = ({ key, target, ctrlKey, metaKey, altKey }, option, dialog) => {
  const model = option?.group === "Models" && option.element.dataset.model;
  if (!model || target.value || ctrlKey || metaKey || altKey || !dialog.hasAttribute("data-moved")) return null;
  if (key === "t" && inChat()) return () => { dialog.close(); tell("model:test", model); };
  if (key !== "p") return null;
  return () => {
    togglePin(model);
    dialog.querySelector("[data-none]").textContent = `${pinned().includes(model) ? "Pinned" : "Unpinned"} ${option.title}.`;
  };
};
