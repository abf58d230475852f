// Fetches an answer again whose formatting was not ready when it ended: a busy machine may need several tries.
import { transcript } from "./transcript.js";

const PAUSE = 1000, MOST = 5; // milliseconds, per answer
let left = 0;

// A text that stays plain has a note above it.
const isPlain = () => transcript().querySelector(".prose > .toolong:first-child") !== null;

export const again = (refresh) => {
  if (isPlain() && left-- > 0) setTimeout(refresh, PAUSE);
};

export const ended = (refresh) => {
  left = MOST;
  again(refresh);
};
