// The nodes of a growing text, with the same shape as the server's HTML.
export const make = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

// The end of a line within a text, as the server shows it; "" while the line is open.
export const lineBreak = (end) => (end ? make("br") : "");

// A box from the opening fence on; its text goes into the code element.
export const codeBox = (language) => make("figure", { class: "code", "data-writing": "" },
  make("figcaption", {}, make("span", {}, language.slice(0, 30) || "text"),
    make("button", { type: "button", "data-wrap": "", "aria-pressed": "false" }, "Wrap"),
    make("button", { type: "button", "data-copy": "" }, "Copy")),
  make("pre", { tabindex: "0", dir: "ltr" }, make("code")));

export const tableBox = () => make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Table", dir: "auto" }, make("table"));

export const task = (done) => make("label", {}, make("input", { type: "checkbox", disabled: "", ...(done !== " " && { checked: "" }) }), " ");

const FIRST = 3, LAST = 6;
export const NO_HEADING = { highest: 0, before: FIRST - 1 };

// The level of the next heading, by the server's rule: below the message's own, and none skipped.
export const outlined = ({ highest, before }, written) => {
  const top = Math.min(highest || written, written);
  return { highest: top, before: Math.min(FIRST + written - top, before + 1, LAST) };
};
