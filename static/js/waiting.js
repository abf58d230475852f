// Above the composer: how many calls wait for approval. A click leads to the first, the next click to the next.
const line = document.getElementById("waiting");
const cards = () => [...document.querySelectorAll("#transcript [data-call] [data-question]")];
let at = 0, planned = false, before = 0;

const show = () => {
  planned = false;
  const count = cards().length;
  if (at >= count) at = 0;
  const text = count > 1 ? `Waiting for your approval · ${at + 1} of ${count}` : "Waiting for your approval";
  if (count !== before) document.dispatchEvent(new CustomEvent("approvals"));
  before = count;
  line.hidden = !count;
  if (line.textContent !== text) line.textContent = text;
};

const lead = () => {
  const card = cards()[at];
  if (!card) return;
  for (let box = card.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  card.scrollIntoView({ block: "center" });
  card.querySelector("[data-answer-key]").focus({ preventScroll: true });
  at += 1;
  show();
};

line.addEventListener("click", lead);
new MutationObserver(() => {
  if (planned) return;
  planned = true;
  requestAnimationFrame(show);
}).observe(document.getElementById("transcript"), { childList: true, subtree: true });
show();
