// The ring beside Send: how much of the model's context the last answer used.
const ring = document.getElementById("context");

export const show = ({ context_tokens: used, context_limit: limit } = {}) => {
  if (!used || !limit) return;
  const percent = Math.min(100, Math.round((100 * used) / limit));
  ring.hidden = false;
  ring.toggleAttribute("data-full", percent >= 80);
  ring.querySelector("[data-arc]").setAttribute("stroke-dasharray", `${percent} 100`);
  ring.querySelector("[data-percent]").textContent = `${percent} %`;
  ring.querySelector("[data-limit]").textContent = ` of ${limit >= 1024 ? `${Math.floor(limit / 1024)}K` : limit}`;
};
