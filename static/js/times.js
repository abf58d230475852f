// Times are shown relative ("5 min"); the exact time is in the title. A clock time is that of the reader.
const STEPS = [[60, 1, "now"], [3600, 60, "min"], [86400, 3600, "h"], [604800, 86400, "d"]];

const short = (then) => {
  const seconds = (Date.now() - then) / 1000;
  const step = STEPS.find(([limit]) => seconds < limit);
  if (!step) return new Date(then).toLocaleDateString(undefined, { day: "numeric", month: "short" });
  return step[2] === "now" ? "now" : `${Math.floor(seconds / step[1])} ${step[2]}`;
};

export const refresh = (root = document) => {
  for (const time of root.querySelectorAll("time[data-relative]")) {
    const then = Date.parse(time.dateTime);
    time.title ||= new Date(then).toLocaleString();
    time.textContent = short(then);
  }
  for (const time of root.querySelectorAll("time[data-clock]")) {
    const then = new Date(time.dateTime);
    time.title = then.toLocaleString();
    time.textContent = then.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  }
};

refresh();
setInterval(refresh, 30_000, document);
document.addEventListener("htmx:load", (event) => refresh(event.target));

// The server groups chats by the reader's days.
document.cookie = `timezone=${Intl.DateTimeFormat().resolvedOptions().timeZone}; path=/; max-age=31536000; samesite=lax`;
