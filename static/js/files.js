// The files panel: progress of an upload, refusals shown in place, files dropped onto it.
const SHOWN = [411, 413, 422];
const inPanel = (element) => element?.closest?.("#files");
const uploadForm = (element) => inPanel(element)?.querySelector("form[data-upload]");

// The server explains a refusal in the panel itself; htmx would throw away the answer because of its status.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (!inPanel(event.target) || !SHOWN.includes(event.detail.xhr.status)) return;
  event.detail.shouldSwap = true;
  event.detail.isError = false;
});

// What is too large for the server is not sent at all.
document.addEventListener("htmx:beforeRequest", (event) => {
  const form = event.target.closest?.("form[data-upload]");
  if (!form) return;
  const chosen = [...form.elements.files.files].reduce((sum, file) => sum + file.size, 0);
  const error = form.querySelector("[data-upload-error]");
  error.hidden = chosen <= Number(form.dataset.limit);
  error.textContent = error.hidden ? "" : "These files are larger than this conversation has room for.";
  if (!error.hidden) event.preventDefault();
});

document.addEventListener("htmx:xhr:progress", (event) => {
  const form = event.target.closest?.("form[data-upload]");
  if (!form || !event.detail.total) return;
  const shown = form.querySelector("[data-upload-progress]");
  shown.hidden = false;
  shown.querySelector("progress").value = (100 * event.detail.loaded) / event.detail.total;
});

// A lost connection leaves the form as it was, with a word about it.
document.addEventListener("htmx:sendError", (event) => {
  const form = event.target.closest?.("form[data-upload]");
  if (!form) return;
  form.querySelector("[data-upload-progress]").hidden = true;
  const error = form.querySelector("[data-upload-error]");
  error.hidden = false;
  error.textContent = "The server could not be reached. Nothing was uploaded; try again.";
});

// The button that was pressed is gone after the swap: the keyboard goes on from the message.
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.target.id === "files" && document.activeElement === document.body) {
    event.target.querySelector("[data-status-line]")?.focus();
  }
});

document.addEventListener("dragover", (event) => {
  if (uploadForm(event.target) && event.dataTransfer.types.includes("Files")) event.preventDefault();
});

document.addEventListener("drop", (event) => {
  const form = uploadForm(event.target);
  if (!form || !event.dataTransfer.files.length) return;
  event.preventDefault();
  form.elements.files.files = event.dataTransfer.files;
  form.requestSubmit();
});
