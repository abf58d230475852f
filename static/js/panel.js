// The panel beside the chat: a part is read again when a tool changed it, unless something was begun there.
const begun = (part) =>
  [...part.querySelectorAll("textarea, input:not([type=hidden], [type=checkbox])")].some((field) => field.value !== field.defaultValue);

// `data-changed-by` names the tools that change what a part shows; __ stands for every tool of an MCP server.
export const changed = (tool) => {
  const name = tool.includes("__") ? "__" : tool;
  for (const part of document.querySelectorAll(`#panel [data-changed-by~="${CSS.escape(name)}"]`)) {
    if (!begun(part)) htmx.trigger(part, "changed");
  }
};

// The server explains a refusal in the panel itself; htmx would drop the answer because of its status.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.target?.closest?.("#files") && [413, 422].includes(event.detail.xhr.status)) Object.assign(event.detail, { shouldSwap: true, isError: false });
});

// The button that was pressed is gone after the swap: the keyboard goes on from the message.
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.target.id === "files" && document.activeElement === document.body) event.target.querySelector("[data-status-line]")?.focus();
});
