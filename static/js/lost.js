// While the socket is down: shows that, and checks whether the person may still open the chat.
import { offline, tooMany } from "./status.js";

export const down = (path) => async (attempts, code) => {
  // Signed out, or the role changed: the server's own page shows it.
  if (code === 4401 || code === 4403) return void location.reload();
  if (code === 4409) tooMany();
  else offline();
  document.getElementById("chat").dataset.connected = "false";
  // A refused socket may mean that the session ended: the page then leads to signing in.
  if (attempts % 3 === 0 && navigator.onLine) {
    const answer = await fetch(`${path}messages/`, { redirect: "manual" }).catch(() => null);
    if (answer && (answer.type === "opaqueredirect" || [403, 404].includes(answer.status))) location.reload();
  }
};
