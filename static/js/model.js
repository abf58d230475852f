// The page of a model: the dialog of an override, and the evidence of a capability in its panel.
const dialog = () => document.getElementById("override"), panel = () => document.getElementById("evidence");
const wide = matchMedia("(width >= 70rem)");
let opener = "";

const closePanel = () => {
  if (!panel()?.childElementCount) return;
  if (panel().matches(":popover-open")) panel().hidePopover();
  panel().replaceChildren();
  document.getElementById(opener)?.focus();
};

const SHOWN = {
  override: () => dialog().open || dialog().showModal(),
  evidence: () => {
    if (!wide.matches && !panel().matches(":popover-open")) panel().showPopover();
    panel().querySelector("[data-close]")?.focus();
  },
  // A saved override replaces the page below its dialog: the keyboard goes on from Undo.
  face: () => {
    if (!dialog()?.open) return;
    dialog().close();
    document.getElementById("undo-override")?.focus();
  },
};

document.addEventListener("htmx:beforeRequest", ({ target }) => {
  if (target.matches?.("[data-opens]")) opener = target.id;
});
document.addEventListener("htmx:afterSwap", ({ detail }) => SHOWN[detail.target?.id]?.());
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-close]")) return;
  if (event.target.closest("#evidence")) closePanel();
  if (!event.target.closest("#override")) return;
  event.preventDefault();
  dialog().close();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !dialog()?.open) closePanel();
});
