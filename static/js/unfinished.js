// What the list says of answers that are not over: asked anew while one is written, and when somebody comes back.
const EVERY = 3_000, PATH = "/chat/list/unfinished/", WRITTEN = "answering";
const places = () => [...document.querySelectorAll("#conversations [data-state]")];
let timer;

const show = (states) => {
  for (const place of places()) {
    const state = states[place.dataset.state] ?? "";
    if (place.textContent !== state) place.textContent = state;
  }
};

const later = () => {
  clearTimeout(timer);
  if (places().some((place) => place.textContent === WRITTEN)) timer = setTimeout(look, EVERY);
};

const look = async () => {
  clearTimeout(timer);
  if (document.hidden) return;
  try {
    const answer = await fetch(PATH, { redirect: "manual" });
    if (!answer.ok) return;
    show(await answer.json());
  } catch { /* The server is away: looked for again below. */ }
  later();
};

document.addEventListener("visibilitychange", look);
const changed = (records) => records.some(({ target, oldValue }) => target.dataset.turn !== oldValue);
new MutationObserver((records) => changed(records) && look())
  .observe(document.getElementById("transcript"), { attributeFilter: ["data-turn"], attributeOldValue: true });
later();
