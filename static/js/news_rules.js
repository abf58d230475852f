// Finds the answers to report to a person, from plain values: no page, no clock, no storage.

// A stopped answer is no news: the person stopped it.
const QUIET = ["stopped", "superseded"];
const WORDS = { done: "has a new answer.", failed: "has an answer that failed." };

export const words = ({ state, ended }) =>
  state === "ended" ? WORDS[ended] ?? "has an answer that ended early." : "needs your approval.";

// `before` has the last state of each chat (null: none yet), `answers` the server's current list, `here` the chat in view.
// Returns what is known `after`, with the chats that have an unread answer, and the answers that are `news`.
export const compare = (before, answers, here) => {
  const after = {}, news = [];
  for (const one of answers) {
    const old = before?.[one.chat], same = old?.turn === one.turn && old.state === one.state;
    const fresh = before && !same && one.chat !== here && one.state !== "answering" && !QUIET.includes(one.ended);
    const unread = one.state === "ended" && one.chat !== here && Boolean(fresh || (same && old.unread));
    after[one.chat] = { turn: one.turn, state: one.state, unread };
    if (fresh) news.push(one);
  }
  for (const [chat, old] of Object.entries(before ?? {})) if (!after[chat] && old.unread && chat !== here) after[chat] = old;
  return { after, news };
};
