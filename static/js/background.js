// An answer that ends or waits while nobody looks: a dot in the title, and a notification where that is wanted.
import { wanted } from "./preferences.js";

const MARK = "● ";
const NEWS = {
  "turn.ended": (frame) => (frame.reason === "done" ? "The answer is there." : frame.detail || "The answer ended."),
  "turn.waiting": () => "An answer waits for you.",
};

const unmark = () => {
  if (document.title.startsWith(MARK)) document.title = document.title.slice(MARK.length);
};

export const heard = (frame) => {
  const news = NEWS[frame.type]?.(frame);
  if (!news || !document.hidden) return;
  unmark();
  document.title = MARK + document.title;
  if (!wanted("notify") || globalThis.Notification?.permission !== "granted") return;
  const shown = new Notification(document.title.slice(MARK.length), { body: news, tag: location.pathname });
  shown.onclick = () => {
    focus();
    shown.close();
  };
};

document.addEventListener("visibilitychange", () => document.hidden || unmark());
