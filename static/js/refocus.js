// What a request of htmx or a frame replaces or disables loses the focus: afterwards the same control has it again, or its place has it.
const CONTROLS = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";
const RESULTS = "[data-status-line], [role=alert]";
let lost = null;

const controls = (region) => [...region.querySelectorAll(CONTROLS)];
const nameOf = (one) => [one.localName, one.name, one.ariaLabel || one.textContent.trim()].join();

// The parts of the page around an element that keep their ids, from the inside, with its place among their controls.
const partsAround = (element) => {
  const parts = [];
  for (let one = element.parentElement; one; one = one.parentElement) if (one.id) parts.push([one.id, controls(one).indexOf(element)]);
  return parts;
};

const note = () => {
  const element = document.activeElement;
  if (element !== document.body) lost = { element, name: nameOf(element), parts: partsAround(element) };
  else if (!lost?.element.matches(":disabled")) lost = null;
};

const successor = ({ name, parts }) => {
  for (const [id, place] of parts) {
    const part = document.getElementById(id);
    if (!part?.checkVisibility()) continue;
    const all = controls(part), usable = all.filter((one) => !one.disabled && one.checkVisibility());
    const far = (one) => Math.abs(all.indexOf(one) - place);
    usable.sort((one, other) => far(one) - far(other));
    const result = [...part.querySelectorAll(RESULTS)].find((one) => one.textContent.trim() && one.checkVisibility());
    if (result) result.tabIndex = -1;
    const found = usable.find((one) => nameOf(one) === name) ?? result ?? usable[0];
    if (found) return found;
  }
  return null;
};

const restore = () => {
  if (!lost || document.activeElement !== document.body || lost.element.matches(":disabled")) return;
  (lost.element.isConnected ? lost.element : successor(lost))?.focus({ preventScroll: true });
};

// For a change of a part of the page that is not made by htmx.
export const keepFocus = (part, change) => {
  if (!part.contains(document.activeElement)) return void change();
  note();
  change();
  restore();
};

for (const kind of ["htmx:beforeRequest", "htmx:beforeSwap"]) document.addEventListener(kind, note);
document.addEventListener("htmx:afterRequest", restore);
