// Images for the next message: chosen, pasted or dropped, kept on the server, shown small until they are sent.
import { say } from "./status.js";

const LARGEST = 6 * 1024 * 1024, MOST = 8;
const shelf = document.getElementById("attached"), picker = document.getElementById("image");
const composer = document.querySelector(".composer");

export const attached = () => {
  const paths = [...shelf.children].map((figure) => figure.dataset.path);
  return paths.length ? paths : undefined;
};

const show = () => {
  shelf.hidden = !shelf.children.length;
  document.getElementById("unseen").hidden = shelf.hidden || "vision" in document.getElementById("picker").dataset;
};

export const clearAttached = () => {
  shelf.replaceChildren();
  show();
};

export const put = (path) => {
  const figure = document.createElement("figure"), image = new Image(), remove = document.createElement("button");
  figure.dataset.path = path;
  image.src = `${shelf.dataset.show}?path=${encodeURIComponent(path)}`;
  image.alt = path;
  Object.assign(remove, { type: "button", textContent: "×", ariaLabel: `Leave out ${path}` });
  remove.addEventListener("click", () => { figure.remove(); show(); document.getElementById("text").focus(); });
  figure.append(image, remove);
  shelf.append(figure);
  show();
};

const add = async (file) => {
  if (shelf.children.length >= MOST) return void say(`A message may have ${MOST} images at most.`, "off");
  if (file.size > LARGEST) return void say(`${file.name} is too large: an image may have 6 MiB at most.`, "off");
  const form = new FormData(), headers = JSON.parse(document.body.getAttribute("hx-headers"));
  form.append("image", file);
  try {
    const answer = await (await fetch(shelf.dataset.url, { method: "POST", body: form, headers })).json();
    if (answer.path) put(answer.path);
    else say(answer.error, "off");
  } catch { say("The image could not be sent to the server.", "off"); }
};

const addAll = async (files) => {
  for (const file of files) await add(file);
};

const imagesOf = (transfer) => [...(transfer?.files ?? [])].filter((file) => file.type.startsWith("image/"));

document.getElementById("attach").addEventListener("click", () => picker.click());
picker.addEventListener("change", async () => {
  const files = [...picker.files];
  picker.value = "";
  await addAll(files);
});
composer.addEventListener("paste", (event) => {
  const images = imagesOf(event.clipboardData);
  if (!images.length) return;
  event.preventDefault();
  addAll(images);
});
composer.addEventListener("dragover", (event) => event.preventDefault());
composer.addEventListener("drop", (event) => {
  event.preventDefault();
  addAll(imagesOf(event.dataTransfer));
});
document.addEventListener("htmx:afterSwap", show);
