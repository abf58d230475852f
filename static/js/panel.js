// The panel beside the chat: shown when a person wants it, or when a tool first changed something in it.
const shell = document.getElementById("chat"), panel = document.getElementById("panel");
const toggle = document.getElementById("files-toggle");
const beside = matchMedia("(width >= 80rem)");

const show = (open) => {
  shell.toggleAttribute("data-files", open);
  toggle.setAttribute("aria-pressed", String(open));
};

toggle.addEventListener("click", () => {
  if (!beside.matches) return void panel.togglePopover();
  show(!shell.hasAttribute("data-files"));
  localStorage.setItem("files-panel", shell.hasAttribute("data-files") ? "open" : "closed");
});
panel.addEventListener("toggle", (event) => {
  if (!beside.matches) toggle.setAttribute("aria-pressed", String(event.newState === "open"));
});
// A drawer lies over the button that opened it: the focus goes into it, and back when it closes.
document.addEventListener("toggle", ({ target, newState }) => {
  if (newState === "open" && target.matches(".drawer") && !target.contains(document.activeElement)) target.focus({ preventScroll: true });
}, true);
show(beside.matches && localStorage.getItem("files-panel") === "open");

// A part is fetched again when a tool changed it, unless a person has begun to write there.
const begun = (part) =>
  [...part.querySelectorAll("textarea, input:not([type=hidden], [type=checkbox])")].some((field) => field.value !== field.defaultValue);

// `data-changed-by` names the tools that change what a part shows; __ stands for every tool of an MCP server.
export const changed = (tool) => {
  const name = tool.includes("__") ? "__" : tool;
  const parts = document.querySelectorAll(`#panel [data-changed-by~="${CSS.escape(name)}"]`);
  if (parts.length && name !== "__" && beside.matches && !localStorage.getItem("files-panel")) show(true);
  for (const part of parts) if (!begun(part)) htmx.trigger(part, "changed");
};

// The server shows a refusal inside the panel; htmx would drop the response because of its status.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.target?.closest?.("#files") && [413, 422].includes(event.detail.xhr.status)) Object.assign(event.detail, { shouldSwap: true, isError: false });
});
