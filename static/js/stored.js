// What the browser keeps for a conversation: `stored` until its tab is closed, `shared` for all its tabs.
const key = (name) => `${name}:${document.getElementById("chat").dataset.conversation}`;

const access = (store, name, value) => {
  try {
    if (value === undefined) return store().getItem(key(name));
    if (value) store().setItem(key(name), value);
    else store().removeItem(key(name));
    return null;
  } catch { /* no storage: this page only */ }
  return undefined;
};

export const stored = (name, value) => access(() => sessionStorage, name, value);
export const shared = (name, value) => access(() => localStorage, name, value);

// Another tab of the same chat changed it.
export const whenShared = (name, changed) => addEventListener("storage", (event) => event.key === key(name) && changed());
