// A link that a modifier key opens elsewhere is not followed here too: htmx would take the click.
addEventListener("click", (event) => {
  const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
  if (elsewhere && event.target.closest("a[href]")) event.stopPropagation();
}, true);
