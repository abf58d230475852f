// Light, dark or as in the system; runs before the first paint, so that nothing flashes.
(() => {
  const read = () => {
    try { return localStorage.getItem("theme") ?? "system"; } catch { return "system"; }
  };
  const show = (theme) => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    for (const button of document.querySelectorAll("[data-theme-choice]"))
      button.setAttribute("aria-pressed", String(button.dataset.themeChoice === theme));
  };
  show(read());
  document.addEventListener("DOMContentLoaded", () => show(read()));
  addEventListener("storage", (event) => event.key === "theme" && show(read()));
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-theme-choice]");
    if (!button) return;
    try { localStorage.setItem("theme", button.dataset.themeChoice); } catch { /* private window: this page only */ }
    show(button.dataset.themeChoice);
  });
})();
