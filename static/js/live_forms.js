// The blocks that a line of a growing text can begin: a code box, a heading, a rule, an item of a list, a quote, a row of a table.
import { inline } from "./inline.js";
import { codeBox, lineBreak, make, outlined, tableBox, task } from "./live_nodes.js";

export const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$/;
export const FENCE = /^( *)(`{3,}|~{3,})([^`]*)$/;
const RULE = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/, QUOTE = /^ {0,3}> ?(.*)$/;
const ITEM = /^( *)([-+*]|\d{1,9}[.)])[ \t]+(?:\[([ xX])\][ \t]+(?=\S))?(.*)$/;
const ROW = /^ {0,3}\|(.*?)\|?[ \t]*$/, DELIMITER = /^[ \t|:-]*-[ \t|:-]*$/;

const putFence = (live, state, [, indent, mark, info], end) => {
  const box = codeBox(info.trim().split(/\s/)[0]);
  live.add(live.parent(state, indent.length), box);
  Object.assign(state, { text: null, code: { mark, indent: indent.length, element: box.querySelector("code") } });
};

const putHeading = (live, state, [, marks, words]) => {
  state.outline = outlined(state.outline, marks.length);
  live.add(null, make(`h${state.outline.before}`, { dir: "auto" }, ...inline(words, live.open)));
  Object.assign(state, { text: null, table: null, quote: null, lists: [] });
};

const putRule = (live, state) => {
  live.add(live.parent(state, 0), make("hr"));
  Object.assign(state, { text: null, lists: [] });
};

const putItem = (live, state, [, { length: indent }, mark, done, words], end) => {
  const name = /\d/.test(mark) ? "ol" : "ul";
  while (state.lists.length && indent < state.lists.at(-1).indent) state.lists.pop();
  if (state.lists.length && indent < state.lists.at(-1).indent + 2 && state.lists.at(-1).element.localName !== name) state.lists.pop();
  let list = state.lists.at(-1);
  if (!list || indent >= list.indent + 2) {
    const element = make(name, { ...(!list && { dir: "auto" }), ...(name === "ol" && parseInt(mark) !== 1 && { start: parseInt(mark) }) });
    live.add(list?.item ?? null, element);
    state.lists.push(list = { indent, element });
  }
  const item = make("li", done ? { class: "todo" } : {}), text = done ? task(done) : item;
  if (done) item.append(text);
  live.add(list.element, item);
  state.lists[state.lists.length - 1] = { ...list, item };
  Object.assign(state, { text, table: null, quote: null });
  live.add(text, ...inline(words, live.open), lineBreak(end));
};

const putQuote = (live, state, [, words], end) => {
  const quote = state.quote ?? make("blockquote", { dir: "auto" });
  if (!state.quote) live.add(null, quote);
  if (!state.quote || !state.text) live.add(quote, state.text = make("p"));
  if (words.trim()) live.add(state.text, ...inline(words, live.open), lineBreak(end));
  Object.assign(state, words.trim() ? { quote, lists: [] } : { quote, text: null });
};

const putRow = (live, state, [line, words]) => {
  if (state.table && DELIMITER.test(line)) return;
  const box = state.table ?? tableBox(), first = !state.table;
  if (first) live.add(null, box);
  const table = box.querySelector("table"), part = first ? "thead" : "tbody";
  const rows = table.querySelector(part) ?? make(part);
  if (!rows.isConnected) live.add(table, rows);
  live.add(rows, make("tr", {}, ...words.split(/(?<!\\)\|/).map((cell) => make(first ? "th" : "td", {}, ...inline(cell.trim(), live.open)))));
  Object.assign(state, { table: box, text: null, lists: [] });
};

export const FORMS = [[FENCE, putFence], [HEADING, putHeading], [RULE, putRule], [ITEM, putItem], [QUOTE, putQuote], [ROW, putRow]];
