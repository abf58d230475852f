// Searches chats whose messages contain the typed words, a moment after the last key.
const PAUSE = 250, SHORTEST = 3;
let timer, asked = 0;

export const search = (url, typed, found) => {
  clearTimeout(timer);
  const text = typed.trim(), number = ++asked;
  if (text.length < SHORTEST || text.startsWith(">")) return;
  timer = setTimeout(async () => {
    const answer = await fetch(`${url}?q=${encodeURIComponent(text)}`, { redirect: "manual" }).catch(() => null);
    const html = answer?.ok ? await answer.text() : "";
    if (number === asked) found(html);
  }, PAUSE);
};
