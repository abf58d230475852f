// A call that runs for long says how long.
const LONG = 5;
const since = new WeakMap();

setInterval(() => {
  for (const place of document.querySelectorAll(".call[data-status=running] [data-elapsed]")) {
    if (!since.has(place)) since.set(place, Date.now());
    const seconds = Math.floor((Date.now() - since.get(place)) / 1000);
    if (seconds >= LONG) place.textContent = ` · ${seconds} s`;
  }
}, 1000);
