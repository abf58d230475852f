// Times are shown relative ("5 min ago"; short: "5 min"), or since when: a clock time of today, or a day. The exact time is
// in the title. A clock time is that of the reader.
const STEPS = [[60, 1, "now"], [3600, 60, "min"], [86400, 3600, "h"], [604800, 86400, "d"]];

// One format for every reader: the words beside them are English too.
const LOCALE = "en-GB";

const day = (then) => new Date(then).toLocaleDateString(LOCALE, { day: "numeric", month: "short" });
const clock = (then) => new Date(then).toLocaleTimeString(LOCALE, { hour: "2-digit", minute: "2-digit" });

const exact = (then) => new Date(then).toLocaleString(LOCALE, { dateStyle: "medium", timeStyle: "short" });

const short = (then, after = "") => {
  const seconds = (Date.now() - then) / 1000;
  const step = STEPS.find(([limit]) => seconds < limit);
  if (!step) return day(then);
  return step[2] === "now" ? `${after && "just "}now` : `${Math.floor(seconds / step[1])} ${step[2]}${after}`;
};

const FORMS = {
  "": (then) => short(then, " ago"),
  short: (then) => short(then),
  since: (then) => (new Date(then).toDateString() === new Date().toDateString() ? clock(then) : day(then)),
};

export const refresh = (root = document) => {
  for (const time of root.querySelectorAll("time[data-relative]")) {
    const then = Date.parse(time.dateTime);
    time.title ||= exact(then);
    time.textContent = FORMS[time.dataset.relative](then);
  }
  for (const time of root.querySelectorAll("time[data-clock]")) {
    const then = new Date(time.dateTime);
    time.title = exact(then);
    time.textContent = clock(then);
  }
};

refresh();
setInterval(refresh, 30_000, document);
for (const kind of ["htmx:load", "htmx:afterProcessNode"]) document.addEventListener(kind, ({ target }) => refresh(target));

// The server groups chats by the reader's days.
document.cookie = `timezone=${Intl.DateTimeFormat().resolvedOptions().timeZone}; path=/; max-age=31536000; samesite=lax`;
