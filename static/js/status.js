// A polite status line (the tone "read": only for readers, since it is shown elsewhere), and a banner while the server cannot be reached.
const PATIENCE = 2_000;
let timer;

export const say = (text, tone = "") => {
  const line = document.getElementById("status");
  if (line.textContent !== text) line.textContent = text;
  line.dataset.tone = tone;
  document.getElementById("silence").textContent = "";
};

// Why nothing comes from the model. The seconds are shown, but only a new phase is read out.
const PHASES = {
  loading: "Loading the model", waiting: "Waiting for the model", writing_call: "Writing a call…", answering: "Answering…",
};

export const phase = (frame) => {
  say(PHASES[frame.phase] ?? "");
  if (frame.phase !== "answering") document.getElementById("silence").textContent = ` · ${frame.seconds} s`;
};

export const online = () => {
  clearTimeout(timer);
  timer = undefined;
  document.getElementById("offline").hidden = true;
};

const banner = (text) => {
  const line = document.getElementById("offline");
  line.textContent = text;
  line.hidden = false;
};

// Short gaps are not reported: the banner appears after a while.
export const offline = () => {
  timer ??= setTimeout(() => banner("Reconnecting… your answer keeps running on the server."), PATIENCE);
};

// A page over the limit keeps trying: it connects once another page is closed.
export const tooMany = () => {
  clearTimeout(timer);
  timer = 0;
  say("");  // the banner tells it, and what to do
  banner("You have too many chats open at once. This page connects once you close another one.");
};

// The chat was deleted by another page: the text in the field stays until the reader leaves.
export const gone = () => {
  clearTimeout(timer);
  timer = 0;
  say("");
  banner("This chat was deleted on another page. Copy what you wrote into a new chat: nothing can be sent here any more.");
};

// Nothing can be saved: the notice stays until it can.
export const saving = (frame) => {
  if (frame.saving) online();
  else banner(frame.text);
};

export const answerWords = () => {
  const last = [...document.querySelectorAll(".message[data-role=assistant] .prose")].pop();
  const count = last?.textContent.trim().split(/\s+/).filter(Boolean).length ?? 0;
  return `${count} word${count === 1 ? "" : "s"}`;
};
