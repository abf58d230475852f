// The models that are pinned in this browser: they stand first in the picker.
const KEY = "pinned-models";

export const pinned = () => {
  try { return JSON.parse(localStorage.getItem(KEY) ?? "[]").map(String); } catch { return []; }
};

export const togglePin = (model) => {
  const before = pinned();
  const after = before.includes(model) ? before.filter((one) => one !== model) : [...before, model];
  try { localStorage.setItem(KEY, JSON.stringify(after)); } catch { /* no storage: nothing is pinned */ }
};
