// Stay at the end while text arrives, until the reader scrolls up; then a pill shows that there is new text.
const NEAR = 48;
const pill = document.getElementById("follow");
const page = document.scrollingElement;
let following = true, last = 0;

const atEnd = () => page.scrollHeight - scrollY - innerHeight < NEAR;
const toEnd = () => scrollTo({ top: page.scrollHeight, behavior: "instant" });

addEventListener("scroll", () => {
  if (atEnd()) following = true;
  else if (scrollY < last) following = false;
  last = scrollY;
  if (following) pill.hidden = true;
}, { passive: true });

pill.addEventListener("click", () => {
  following = true;
  pill.hidden = true;
  toEnd();
});

let height = 0;
new ResizeObserver(([entry]) => {
  const grown = entry.contentRect.height > height;
  height = entry.contentRect.height;
  // An empty conversation is read from its top.
  if (following && document.querySelector("#transcript .message")) toEnd();
  else if (grown && document.querySelector("#transcript[aria-busy=true]")) pill.hidden = false;
}).observe(document.querySelector(".stage"));

export const follow = () => {
  following = true;
  toEnd();
};
