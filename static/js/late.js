// The reply to a part of the page that another reply has replaced meanwhile, as after two quick presses, goes to the new part.
// What the page fetches every second replaces no button between the press and the release of the mouse: it would not be clicked.
let sent = 0;
const shown = new Map(); // id of a part → number of the last request whose reply it shows

document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  const { xhr, target: { id } } = detail, number = ++sent;
  if (!id) return;
  // Before htmx reads the reply, which takes its target from here.
  xhr.addEventListener("readystatechange", () => {
    if (xhr.readyState !== XMLHttpRequest.DONE || number < (shown.get(id) ?? 0)) return;
    if (xhr.status === 200) shown.set(id, number);
    if (!detail.target.isConnected) detail.target = document.getElementById(id) ?? detail.target;
  });
});

let pressed = null;
addEventListener("pointerdown", ({ target }) => { pressed = target; }, true);
for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, () => { pressed = null; }, true);
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const again = detail.requestConfig.elt.getAttribute("hx-trigger")?.startsWith("every");
  if (pressed && again && detail.target.contains(pressed)) detail.shouldSwap = false;
});
