// Passkeys: a form fetches the challenge, lets the browser make or prove a passkey, then is sent with the answer.
const able = window.PublicKeyCredential?.parseCreationOptionsFromJSON && PublicKeyCredential.prototype.toJSON;
const CANCELLED = "Nothing was changed: the browser reported that it was cancelled, took too long, or is not allowed here.";
const KNOWN = "This device already has a passkey of your account.";

if (able) {
  for (const form of document.querySelectorAll("form[data-passkey]")) form.hidden = false;
  for (const note of document.querySelectorAll("[data-passkey-missing]")) note.hidden = true;
}

async function options(form) {
  const answer = await fetch(form.dataset.passkey, { method: "POST", body: new FormData(form) });
  const given = await answer.json().catch(() => null);
  if (!answer.ok || !given) throw new Error(given?.error ?? "The site did not answer. Load the page again.");
  return given;
}

async function asked(given) {
  if (given.user) return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(given) });
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(given) });
}

function reason(error) {
  if (error.name === "NotAllowedError" || error.name === "AbortError") return CANCELLED;
  return error.name === "InvalidStateError" ? KNOWN : error.message;
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.dataset.passkey) return;
  event.preventDefault();
  const said = form.querySelector("[data-passkey-said]"), button = form.querySelector("button");
  said.hidden = true;
  button.disabled = true;
  try {
    const credential = await asked(await options(form));
    for (const field of form.querySelectorAll("input[type=password]")) field.disabled = true; // it has been checked
    const answer = Object.assign(document.createElement("input"), { type: "hidden", name: "answer" });
    answer.value = JSON.stringify(credential);
    form.append(answer);
    form.submit();
  } catch (error) {
    said.hidden = false;
    said.textContent = reason(error);
    button.disabled = false;
  }
});
