// Switches that are kept in this browser: single keys, Ctrl K, notifications.
const FIRST = { keys: true, palette: true, notify: false };
const status = () => document.querySelector("[data-preference-status]");

const kept = (name) => {
  try { return localStorage.getItem(`wants-${name}`); } catch { return null; }
};

export const wanted = (name) => (kept(name) ?? (FIRST[name] ? "yes" : "no")) === "yes";

const show = () => {
  for (const box of document.querySelectorAll("[data-preference]")) box.checked = wanted(box.dataset.preference);
};

// The browser asks for permission only when a person turns it on.
const permitted = async () => {
  const answer = globalThis.Notification ? await Notification.requestPermission() : "denied";
  return answer === "granted";
};

document.addEventListener("change", async (event) => {
  const name = event.target.dataset?.preference;
  if (!name) return;
  const refused = name === "notify" && event.target.checked && !(await permitted());
  if (refused) event.target.checked = false;
  status().textContent = refused ? "This browser does not allow notifications here." : "";
  try { localStorage.setItem(`wants-${name}`, event.target.checked ? "yes" : "no"); } catch { /* this page only */ }
});
addEventListener("storage", show);
show();
