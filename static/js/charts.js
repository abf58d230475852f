// A query result of names and numbers is shown as a table, with bars, or as a line.
document.addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-show]");
  if (!button) return;
  button.closest("[data-view]").dataset.view = button.dataset.show;
  for (const one of button.parentElement.children) one.setAttribute("aria-pressed", String(one === button));
});
