// Decides what happens to a queued message, from plain values: no page, no clock, no storage.

// Words for the end of an answer. After any other end the message is held back.
const ENDS = {
  stopped: "the answer was stopped", failed: "the answer failed", interrupted: "the answer was interrupted",
  limit: "the answer reached a limit", model_changed: "the model was changed",
};
const GOOD = ["", "done", "empty"];
export const STALE = 30 * 60 * 1000;

// `entry` is the queued message: {now: send it however the answer ends, held: why it waits for a person}.
// `ended` is how the last answer ended; `age` is given once, when a page opens, in milliseconds.
// Returns [what to do, why]: none, wait, approval, hold, held or send.
export const decide = ({ entry, running, asking, ended = "", age = 0 }) => {
  if (!entry) return ["none", ""];
  if (running) return asking && !entry.now ? ["approval", ""] : ["wait", ""];
  if (entry.now) return ["send", ""];
  if (entry.held) return ["held", entry.held];
  if (!GOOD.includes(ended)) return ["hold", `Not sent: ${ENDS[ended] ?? "the answer ended early"}.`];
  if (age > STALE) return ["hold", "Not sent: this chat was not open when the answer ended."];
  return ["send", ""];
};
