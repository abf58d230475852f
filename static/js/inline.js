// Light inline formatting of a text that still grows, as nodes: no markup of the text is ever parsed as HTML.
const MARKS = new RegExp([
  /(`+)([^`]+?)\1(?!`)/, /\*\*(?=\S)([^]+?)\*\*/, /__(?=\S)([^]+?)__(?!\w)/, /\*(?=[^\s*])([^*]+?)\*/, /(?<!\w)_(?=[^\s_])([^_]+?)_(?!\w)/,
  /~~([^~]+?)~~/, /!?\[([^[\]]*)\]\([^()\s]*\)/, /\\([!-/:-@[-`{-~])/,
].map((mark) => mark.source).join("|"), "g");
// What is still open at the end of the text is shown as what it most likely becomes.
const OPEN = /(?:(\*\*)|(`))(?=\S)([^*`]+)$/;
const DEEPEST = 3;

const element = (name, ...children) => {
  const made = document.createElement(name);
  made.append(...children);
  return made;
};

// A link leads nowhere until its block is finished.
const link = (text) => element("a", text);

const marked = ([, , code, bold, bolder, italic, slanted, struck, label, escaped], depth) => {
  if (code !== undefined) return element("code", code);
  if (label !== undefined) return link(label);
  if (escaped !== undefined) return escaped;
  const text = bold ?? bolder ?? italic ?? slanted ?? struck;
  const name = bold ?? bolder ? "strong" : italic ?? slanted ? "em" : "s";
  return element(name, ...inline(text, false, depth + 1));
};

export const inline = (text, growing = false, depth = 0) => {
  if (depth >= DEEPEST) return [text];
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(MARKS)) {
    nodes.push(text.slice(end, match.index), marked(match, depth));
    end = match.index + match[0].length;
  }
  const rest = text.slice(end), open = growing && rest.match(OPEN);
  if (open) nodes.push(rest.slice(0, open.index), element(open[1] ? "strong" : "code", open[3]));
  else nodes.push(rest);
  return nodes.filter((node) => node !== "");
};
