// What the page does while its socket is down: it says so, and finds out whether the chat is still open to it.
import { gone, offline, tooMany } from "./status.js";

// Something does not exist any more; if it is the chat itself, what was typed must not get lost by a reload.
export const missing = async (path) => {
  const answer = await fetch(`${path}messages/`, { redirect: "manual" }).catch(() => null);
  if (answer?.status === 404) gone();
};

// The transcript as HTML: false where it is refused, null where the server or the network fails for now.
export const fetched = async (url) => {
  try {
    const response = await fetch(url, { redirect: "manual" });
    return response.status >= 500 || response.status === 429 ? null : response.ok && (await response.text() || null);
  } catch { return null; }
};

export const down = (path) => async (attempts, code) => {
  // Signed out, or the role changed: the server's own page shows it.
  if (code === 4401 || code === 4403) return void location.reload();
  if (code === 4404) return void gone();
  if (code === 4409) tooMany();
  else offline();
  document.getElementById("chat").dataset.connected = "false";
  // A refused socket may mean that the session ended: the page then leads to signing in.
  if (attempts % 3 === 0 && navigator.onLine) {
    const answer = await fetch(`${path}messages/`, { redirect: "manual" }).catch(() => null);
    if (answer?.status === 404) return void gone();
    if (answer && (answer.type === "opaqueredirect" || answer.status === 403)) location.reload();
  }
};
