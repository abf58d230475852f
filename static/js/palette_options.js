// The options of the palette: those that the server sends, and those of the open page alone.
export const entry = (element, more = {}) => ({
  id: element.id, group: element.dataset.group, title: element.dataset.title, words: element.dataset.words ?? "", element, ...more,
});

const icon = (name) => {
  const copy = document.querySelector("#palette .icon").cloneNode(true), use = copy.firstElementChild;
  use.setAttribute("href", use.getAttribute("href").replace(/#.*/, `#${name}`));
  return copy;
};

// An option of this page alone: {title, note, key, act}; `key` does the same without the palette.
export const local = ({ title, note, key, act }, index) => {
  const element = document.createElement("li"), text = document.createElement("span"), code = document.createElement("code");
  Object.assign(element, { id: `palette-here-${index}`, role: "option" });
  Object.assign(element.dataset, { group: "Commands", title });
  Object.assign(text, { className: "cut", textContent: title });
  text.dataset.match = "";
  code.textContent = note ?? "";
  element.append(icon("swap"), text, code);
  if (key) element.append(Object.assign(document.createElement("kbd"), { textContent: key }));
  return entry(element, { act });
};

export const read = (html) => {
  const page = new DOMParser().parseFromString(`<ul>${html}</ul>`, "text/html");
  return [...page.querySelectorAll("[role=option]")].map((element) => entry(document.adoptNode(element)));
};
