// Updates a shown message to its final form: unchanged parts stay, with their selection and scroll position.
const same = (one, other) => one && other && one.isEqualNode(other);

// Boxes that a reader wrapped stay wrapped.
const keepWrapped = (old, fresh) => {
  const boxes = fresh.querySelectorAll("figure");
  old.querySelectorAll("figure").forEach((box, index) => {
    if (!box.classList.contains("wrapped") || !boxes[index]) return;
    boxes[index].classList.add("wrapped");
    boxes[index].querySelector("[data-wrap]")?.setAttribute("aria-pressed", "true");
  });
};

const become = (old, fresh) => {
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) old.setAttribute(name, value);
};

const settleChildren = (old, fresh) => {
  keepWrapped(old, fresh);
  const here = [...old.childNodes], wanted = [...fresh.childNodes];
  let first = 0, last = 0;
  while (same(here[first], wanted[first])) first += 1;
  while (last < Math.min(here.length, wanted.length) - first && same(here.at(-1 - last), wanted.at(-1 - last))) last += 1;
  for (const node of here.slice(first, here.length - last)) node.remove();
  const next = old.childNodes[first] ?? null;
  for (const node of wanted.slice(first, wanted.length - last)) old.insertBefore(node, next);
  become(old, fresh);
};

// False where one of them has no text to keep. A text that still grows stays as it is.
export const settle = (old, fresh) => {
  const text = old.querySelector(":scope > .prose"), wanted = fresh.querySelector(":scope > .prose");
  if (!text || !wanted) return false;
  if (!text.hasAttribute("data-blocks") || !wanted.hasAttribute("data-text")) settleChildren(text, wanted);
  const [before, after] = [[], []];
  let place = before;
  for (const node of [...fresh.childNodes]) {
    if (node === wanted) place = after;
    else place.push(node);
  }
  for (const node of [...old.childNodes]) if (node !== text) node.remove();
  text.before(...before);
  text.after(...after);
  become(old, fresh);
  return true;
};
