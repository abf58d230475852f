// Signing out removes queued messages from this browser.
document.addEventListener("submit", (event) => {
  if (new URL(event.target.action).pathname !== "/logout/") return;
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith("queued:")) localStorage.removeItem(key);
  } catch { /* no storage, nothing kept */ }
});
