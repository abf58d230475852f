// Sends one file to the server and reports its progress. The answer is {path, note}, or an Error with words for people.
const LARGEST_IMAGE = 6 * 1024 * 1024, KINDS = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const AWAY = "The server cannot be reached.";
const shelf = document.getElementById("attached");
const headers = () => ({ ...JSON.parse(document.body.getAttribute("hx-headers")), accept: "application/json" });

export const isImage = (file) => KINDS.includes(file.type) && file.size <= LARGEST_IMAGE;

// Images answer {path} or {error}; files the lines of their panel.
const read = (request) => {
  const answer = JSON.parse(request.responseText);
  const line = answer.lines?.[0] ?? { path: answer.path, text: answer.error, tone: answer.error ? "off" : "ok" };
  if (!line.path) throw new Error(line.text);
  return { path: line.path, note: line.tone === "ask" ? line.text : "" };
};

const settle = (request, done, fail) => {
  try {
    done(read(request));
  } catch (error) {
    fail(error instanceof SyntaxError ? new Error(`The server refused it (${request.status}).`) : error);
  }
};

export const upload = (file, { replace = false, progress, signal }) =>
  new Promise((done, fail) => {
    const request = new XMLHttpRequest(), form = new FormData();
    form.append(isImage(file) ? "image" : "files", file, file.name);
    form.append("pending", "1");
    if (replace) form.append("replace", "1");
    request.open("POST", isImage(file) ? shelf.dataset.images : shelf.dataset.files);
    for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => progress(total ? (100 * loaded) / total : 0);
    request.onload = () => settle(request, done, fail);
    request.onerror = () => fail(new Error(AWAY));
    request.onabort = () => fail(new Error("Not uploaded."));
    signal.addEventListener("abort", () => request.abort());
    request.send(form);
  });

export const remove = (path) =>
  fetch(shelf.dataset.delete, { method: "POST", headers: headers(), body: new URLSearchParams({ path }) }).catch(() => null);
