// The last block of a growing answer, line by line. Whole lines stay as they are; only the open one is made again.
import { inline } from "./inline.js";
import { FORMS } from "./live_forms.js";
import { lineBreak, make, NO_HEADING } from "./live_nodes.js";

// A longer line is taken in pieces, so that no frame costs more than one of them.
const LONGEST = 2_000;

// The beginning of a mark: as text it would stand behind the block before for a moment.
const MARK = /^\s*(?:[>#|]{1,6}|`{1,2}|~{1,2}|(?:[-+*]{1,3}|\d{1,9}[.)]?)(?:\s+\[(?:[ xX]\]?)?)?)\s*$/;

const indentOf = (line) => line.length - line.trimStart().length;

export class LiveBlock {
  constructor(place) {
    this.place = place;
    this.nodes = [];
    this.reset(NO_HEADING);
  }

  // Remove what is shown, for another text; `outline` is that of the headings before it.
  reset(outline) {
    for (const node of this.nodes) node.remove();
    Object.assign(this, { nodes: [], kept: 0, fresh: [], line: "", saved: null, state: { outline, lists: [] } });
  }

  append(piece) {
    for (const node of this.fresh) node.remove();
    this.nodes.length = this.kept;
    this.state = this.saved ?? this.state;
    const lines = (this.line + piece).split("\n");
    this.line = lines.pop();
    for (const line of lines) this.put(line.replace(/\r$/, ""), "\n");
    while (this.line.length > LONGEST) {
      const end = this.line.lastIndexOf(" ", LONGEST) + 1 || LONGEST;
      this.put(this.line.slice(0, end), "");
      this.line = this.line.slice(end);
    }
    Object.assign(this, { saved: this.state, kept: this.nodes.length, fresh: [], open: true });
    if (this.line && (this.state.code || this.state.within || !MARK.test(this.line))) this.put(this.line, "");
    this.open = false;
  }

  // Add nodes at the end of a parent, null for the answer itself; those of the open line are taken away again.
  add(parent, ...nodes) {
    for (const node of nodes) {
      const last = parent?.lastChild;
      if (typeof node === "string" && !this.open && last?.nodeType === Node.TEXT_NODE) last.appendData(node);
      else {
        const made = typeof node === "string" ? document.createTextNode(node) : node;
        (parent ?? this.place).append(made);
        if (!parent) this.nodes.push(made);
        if (this.open) this.fresh.push(made);
      }
    }
  }

  // The rest of a line, or a whole one with its end.
  put(line, end) {
    const { within, text, code } = this.state;
    const state = this.state = { ...this.state, lists: [...this.state.lists], within: !end };
    if (code) return this.putCode(state, line, end);
    if (within && text) return this.add(text, ...inline(line, this.open), lineBreak(end));
    if (!line.trim()) return void Object.assign(state, { text: null, table: null, quote: null, blank: true });
    const form = FORMS.find(([pattern]) => pattern.test(line));
    if (form) form[1](this, state, line.match(form[0]), end);
    else this.putText(state, line, end);
    state.blank = false;
  }

  putCode(state, line, end) {
    const { mark, indent, element } = state.code, words = line.trim();
    const closes = words.length >= mark.length && !words.replaceAll(mark[0], "");
    if (closes && end) {
      element.closest("figure").removeAttribute("data-writing");
      state.code = null;
    } else if (end || !/^[`~]+$/.test(words)) this.add(element, line.slice(Math.min(indent, indentOf(line))) + end);
  }

  // Where a line with this indentation belongs: an item of an open list, or the answer itself.
  parent(state, indent) {
    while (state.lists.length && indent <= state.lists.at(-1).indent) state.lists.pop();
    return state.lists.at(-1)?.item ?? null;
  }

  putText(state, line, end) {
    if (!state.text || state.blank) {
      const parent = this.parent(state, indentOf(line));
      this.add(parent, state.text = make("p", { dir: "auto" }));
    }
    this.add(state.text, ...inline(line.trimStart(), this.open), lineBreak(end));
  }
}
