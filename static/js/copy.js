// Copy and Wrap buttons, wherever they appear; live fragments need no wiring.
import { say } from "./notices.js";

const flash = (button) => {
  const label = button.getAttribute("aria-label") ?? "";
  button.dataset.copied = "";
  button.setAttribute("aria-label", "Copied");
  setTimeout(() => {
    delete button.dataset.copied;
    if (label) button.setAttribute("aria-label", label);
    else button.removeAttribute("aria-label");
  }, 1500);
};

const write = async (text) => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Over plain http from another machine there is no clipboard API: select and copy the old way.
  const area = Object.assign(document.createElement("textarea"), { value: text });
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
};

// An answer is copied as its Markdown, which the page does not contain. Where it cannot be had, another page comes instead of
// it, such as that for signing in.
const fetched = async (url) => {
  const answer = await fetch(url, { redirect: "manual" });
  if (!answer.ok) throw new Error("no text");
  return answer.text();
};

const sourceOf = async (button) => {
  if (button.dataset.copyUrl) return fetched(button.dataset.copyUrl);
  return button.closest("[data-copy-scope], figure")?.querySelector("[data-copy-source], pre")?.textContent;
};

export const copyFrom = async (button) => {
  let text;
  try { text = await sourceOf(button); }
  catch { return say(button, "Nothing was copied. Reload the page and try again."); }
  if (text === undefined) return;
  try {
    await write(text);
    flash(button);
  } catch { say(button, "Nothing was copied: your browser does not allow it here."); }
};

document.addEventListener("click", (event) => {
  const copy = event.target.closest("[data-copy], [data-copy-url]");
  if (copy) copyFrom(copy);
  const wrap = event.target.closest("[data-wrap]");
  if (wrap) {
    const wrapped = wrap.closest("figure").classList.toggle("wrapped");
    wrap.setAttribute("aria-pressed", String(wrapped));
  }
});
