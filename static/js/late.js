// A reply to a part of the page that another reply has replaced meanwhile, as after two quick presses: it is put into the new one.
let sent = 0;
const shown = new Map(); // id of a part → number of the last request whose reply it shows

document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  const { target, xhr } = detail, { id } = target, number = ++sent;
  if (id) xhr.addEventListener("loadend", () => {
    if (xhr.status !== 200 || number < (shown.get(id) ?? 0)) return;
    shown.set(id, number);
    if (!target.isConnected && !xhr.getResponseHeader("HX-Redirect") && document.getElementById(id))
      htmx.swap(`#${id}`, xhr.responseText, { swapStyle: "outerHTML" });
  });
});
