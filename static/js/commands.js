// Commands typed into the message field: each does what a button of the page does.
import { open } from "./picker.js";
import { say } from "./status.js";

const press = (selector) => document.querySelector(selector)?.click();
const tell = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));

const detect = () => {
  const { model } = document.getElementById("picker").dataset;
  if (model) tell("model:test", model);
  else say("Choose a model first.", "off");
};

const useModel = (name) => (name ? tell("model:chosen", name) : say("Which model? Write /model use and its name.", "off"));

// The longest name that fits is meant; those that take nothing after them fit alone only.
const COMMANDS = [
  ["/model use", useModel, true],
  ["/model list", () => open()],
  ["/model", () => open()],
  ["/detect", detect],
  ["/tools on", () => tell("tools:switched", true)],
  ["/tools off", () => tell("tools:switched", false)],
  ["/tools", () => location.assign("/tools/")],
  ["/help", () => press("[data-help]")],
];

const meant = (text) => {
  const words = text.replace(/\s+/g, " ");
  return COMMANDS.find(([name, , more]) => words === name || (more && words.startsWith(`${name} `)));
};

// What is left to be sent: the text itself, without the slash that hides a command, or null after a command.
// A text that only looks like a command stays in the field.
export const obey = (text) => {
  if (!text.startsWith("/")) return { text };
  if (text.startsWith("//")) return { text: text.slice(1) };
  const command = meant(text);
  if (!command) {
    say(`There is no command ${text.split(/\s/)[0]}. /help lists them; // begins a message with a slash.`, "off");
    return { done: false };
  }
  command[1](text.replace(/\s+/g, " ").slice(command[0].length).trim());
  return { done: true };
};
