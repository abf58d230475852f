// Copy and Wrap buttons, wherever they appear; live fragments need no wiring.
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

export const copyFrom = async (button) => {
  const source = button.closest("[data-copy-scope], figure")?.querySelector("[data-copy-source], pre");
  if (!source) return;
  await write(source.textContent);
  flash(button);
};

// An answer is copied as its Markdown, which the page does not contain.
const copyAnswer = async (button) => {
  const response = await fetch(button.dataset.copyUrl);
  if (!response.ok) return;
  await write(await response.text());
  flash(button);
};

document.addEventListener("click", (event) => {
  const copy = event.target.closest("[data-copy]"), answer = event.target.closest("[data-copy-url]");
  if (copy) copyFrom(copy);
  if (answer) copyAnswer(answer);
  const wrap = event.target.closest("[data-wrap]");
  if (wrap) {
    const wrapped = wrap.closest("figure").classList.toggle("wrapped");
    wrap.setAttribute("aria-pressed", String(wrapped));
  }
});
