// Chooses and orders the options of the palette, from plain values: {id, group, title, words} and what was typed.
const ORDER = ["Recent", "Models", "Commands", "Chats", "Pages"];
const MOST = 6, LAST = 5;

const rank = (title, typed) => (title.startsWith(typed) ? 0 : title.split(/[\s\-_/:.]+/).some((word) => word.startsWith(typed)) ? 1 : 2);

// Without words: the last ones used, filled up with chats and pages.
const last = (options, recent) => {
  const used = recent.map((id) => options.find((one) => one.id === id)).filter(Boolean);
  const others = ["Chats", "Pages"].flatMap((group) => options.filter((one) => one.group === group && !used.includes(one)));
  return [...used, ...others].slice(0, LAST).map((option) => ({ option, group: "Recent" }));
};

// Returns [{option, group}] in the order in which they stand; a `>` asks for commands only.
export const choose = (options, typed, recent = []) => {
  const only = typed.trimStart().startsWith(">");
  const words = typed.toLowerCase().replace(/^\s*>/, "").split(/\s+/).filter(Boolean), text = words.join(" ");
  if (!text && !only) return last(options, recent);
  const holds = ({ title, words: more = "" }) => words.every((word) => `${title} ${more}`.toLowerCase().includes(word));
  const fits = (one) => (!only || one.group === "Commands") && holds(one);
  const found = options.filter(fits).map((option, place) => ({ option, group: option.group, place, rank: rank(option.title.toLowerCase(), text) }));
  found.sort((one, other) => ORDER.indexOf(one.group) - ORDER.indexOf(other.group) || one.rank - other.rank || one.place - other.place);
  const count = {};
  return found.filter(({ group }) => (count[group] = (count[group] ?? 0) + 1) <= (only ? 50 : MOST));
};

// The text in pieces, [piece, whether it was typed].
export const pieces = (title, typed) => {
  const word = typed.toLowerCase().replace(/^\s*>/, "").trim(), at = word ? title.toLowerCase().indexOf(word) : -1;
  if (at < 0) return [[title, false]];
  return [[title.slice(0, at), false], [title.slice(at, at + word.length), true], [title.slice(at + word.length), false]].filter(([piece]) => piece);
};
