// One polite line that says what is going on, and a banner for when the server cannot be heard.
const PATIENCE = 2_000;
let timer;

export const say = (text, tone = "") => {
  const line = document.getElementById("status");
  if (line.textContent !== text) line.textContent = text;
  line.dataset.tone = tone;
};

export const online = () => {
  clearTimeout(timer);
  timer = undefined;
  document.getElementById("offline").hidden = true;
};

// Short gaps are nobody's business: the banner comes only after a while.
export const offline = () => {
  timer ??= setTimeout(() => {
    const banner = document.getElementById("offline");
    banner.textContent = "Reconnecting… your answer keeps running on the server.";
    banner.hidden = false;
  }, PATIENCE);
};
