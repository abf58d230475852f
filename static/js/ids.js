// An id for one act, so that sending it twice is doing it once.
// randomUUID is only there over https and on this machine itself.
export const newId = () =>
  crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
