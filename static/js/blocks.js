// The text of an answer while it grows: finished blocks as the server's HTML, and behind them one live block.
import { LiveBlock } from "./live.js";
import { FENCE, HEADING } from "./live_forms.js";
import { NO_HEADING, outlined } from "./live_nodes.js";

// Characters for one frame of the screen: a page that is shown again fills a long answer in several frames.
const MOST = 16_384;
const answers = new WeakMap();

const after = (outline, block) => {
  const lines = block.split("\n");
  if (FENCE.test(lines.find((line) => line.trim()) ?? "")) return outline;
  return lines.reduce((level, line) => (HEADING.test(line) ? outlined(level, line.match(HEADING)[1].length) : level), outline);
};

class GrowingAnswer {
  constructor(place) {
    this.place = place;
    this.text = place.textContent;
    this.live = new LiveBlock(place);
    this.empty();
    this.show(Math.min(this.length, MOST));
  }

  get length() {
    return this.text.length;
  }

  empty() {
    this.place.replaceChildren();
    this.place.toggleAttribute("data-blocks", true);
    Object.assign(this, { done: 0, shown: 0, outline: NO_HEADING, finished: [] });
    this.live.reset(NO_HEADING);
  }

  append(piece) {
    this.text += piece;
    this.later();
  }

  // The whole text, after a gap: blocks of the same text stay, and with them what a reader selected.
  replace(text) {
    if (!text.startsWith(this.text.slice(0, this.done))) this.empty();
    this.text = text;
    this.settle();
    this.restart();
  }

  // Returns false where a block before this one is missing.
  block({ start, end, html }) {
    if (start > this.done || end > this.length) return false;
    if (start < this.done) return true;
    this.finished.push(html);
    this.outline = after(this.outline, this.text.slice(start, end));
    this.done = end;
    this.later();
    return true;
  }

  // All blocks of a frame at once: the live text behind them is written again for each.
  settle() {
    if (!this.finished.length) return;
    const template = document.createElement("template");
    template.innerHTML = this.finished.splice(0).join("");
    this.live.reset(NO_HEADING);
    this.place.append(template.content);
    this.restart();
  }

  // What is shown stays: an answer that gets shorter for a moment moves the page away from its end.
  restart() {
    const { shown } = this;
    this.live.reset(this.outline);
    this.shown = this.done;
    this.show(Math.min(shown, this.length));
  }

  later() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (!this.place.isConnected || !this.place.hasAttribute("data-blocks")) return;
      this.settle();
      this.show(Math.min(this.length, this.shown + MOST));
    });
  }

  show(end) {
    if (end > this.shown) {
      this.live.append(this.text.slice(this.shown, end));
      this.shown = end;
    }
    if (this.shown < this.length) this.later();
  }
}

export const growing = (place) => {
  if (!answers.has(place)) answers.set(place, new GrowingAnswer(place));
  return answers.get(place);
};
