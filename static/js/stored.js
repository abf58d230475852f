// What a page keeps for its conversation until its tab is closed.
const key = (name) => `${name}:${document.getElementById("chat").dataset.conversation}`;

export const stored = (name, value) => {
  try {
    if (value === undefined) return sessionStorage.getItem(key(name));
    if (value) sessionStorage.setItem(key(name), value);
    else sessionStorage.removeItem(key(name));
  } catch { /* no storage: this page only */ }
  return null;
};
