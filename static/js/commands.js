// Commands typed into the message field: each does what a button of the page does.
import { say } from "./status.js";

const press = (selector) => [...document.querySelectorAll(selector)].at(-1)?.click();
// From the button on, Tab leads into what it opens.
const open = (selector) => {
  document.querySelector(selector).focus();
  press(selector);
};
const tell = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));

const test = () => {
  const { model } = document.getElementById("picker").dataset;
  if (model) tell("model:test", model);
  else say("Choose a model first.", "off");
};

const again = () => {
  if (document.querySelector("#transcript [data-again=text]")) press("#transcript [data-again=text]");
  else say("There is no answer yet to regenerate in text mode.", "off");
};

// [name, what follows it, what it does in words, its act]. A name without words after it is a command only when it stands alone.
export const COMMANDS = [
  ["/model", "", "Choose a model", () => press("#picker-button")],
  ["/model", "NAME", "Use the model with this name", (name) => tell("model:chosen", name)],
  ["/test", "", "Test what the model can do with tools", test],
  ["/tools", "", "Open the tools page", () => location.assign("/tools/")],
  ["/tools on", "", "Offer tools in this chat", () => tell("tools:switched", true)],
  ["/tools off", "", "Offer no tools in this chat", () => tell("tools:switched", false)],
  ["/text", "", "Regenerate the last answer in text mode", again],
  ["/new", "", "Open a new chat", () => press("[data-key=n]")],
  ["/files", "", "Show the files of this chat", () => press("#files-toggle")],
  ["/prompts", "", "Choose prompts and settings of this chat", () => open("[popovertarget=settings-menu]")],
  ["/search", "WORDS", "Search your chats", (words) => tell("chats:search", words)],
  ["/help", "", "Show keys and commands", () => press("[data-help]")],
];
const OLD = { "/detect": "/test", "/model list": "/model" };
// A model's name has no spaces: "/model trains are fun" is a message.
const FITS = { "": /^$/, NAME: /^\S+$/, WORDS: /^\S.*$/ };

const meant = (typed) => {
  const words = typed.replace(/\s+/g, " "), text = (OLD[words.toLowerCase()] ?? words).replace(/^\/model use /i, "/model ");
  const lower = text.toLowerCase();
  for (const [name, follows, , act] of COMMANDS) {
    const rest = lower === name ? "" : lower.startsWith(`${name} `) ? text.slice(name.length + 1) : null;
    if (rest !== null && FITS[follows].test(rest)) return () => act(rest);
  }
  return null;
};

// Returns the rest to send: {text}, or {done} after a command. A path such as /etc/hosts is text; // hides a command.
export const obey = (text) => {
  if (!text.startsWith("/") || text.includes("\n")) return { text };
  if (text.startsWith("//") && meant(text.slice(1))) return { text: text.slice(1) };
  const act = meant(text);
  if (!act) return { text };
  act();
  return { done: true };
};

// Returns the commands that match a beginning: those that start with it, then those that contain it.
export const matching = (typed) => {
  if (!/^\/[a-z]?[a-z ]*$/i.test(typed)) return [];
  const text = typed.toLowerCase(), part = text.slice(1).trim();
  const begins = COMMANDS.filter(([name]) => name.startsWith(text.trimEnd()) && name.length >= text.length - 1);
  const holds = COMMANDS.filter((one) => part && !begins.includes(one) && !text.includes(" ") && one[0].includes(part));
  return [...begins, ...holds];
};

const SINGLE_KEYS = { "/model": "m", "/files": "f" };
document.addEventListener("palette:commands", ({ detail }) => {
  for (const [note, follows, title, act] of COMMANDS)
    if (!follows && note !== "/new" && note !== "/help") detail.push({ title, note, act, key: SINGLE_KEYS[note] });
});
