// Lines that a person closes once stay closed in this browser; the server sends them hidden.
for (const line of document.querySelectorAll("[data-once]")) {
  const key = `closed:${line.dataset.once}`;
  try { line.hidden = localStorage.getItem(key) === "yes"; } catch { line.hidden = false; }
  line.querySelector("button").addEventListener("click", () => {
    line.hidden = true;
    document.getElementById("text").focus();
    try { localStorage.setItem(key, "yes"); } catch { /* this page only */ }
  });
}
