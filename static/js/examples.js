// The examples of an empty chat: a click sends one.
const [form, field, send] = ["composer", "text", "send"].map((id) => document.getElementById(id));

document.addEventListener("click", (event) => {
  const example = event.target.closest("[data-example]");
  if (!example || send.hidden || send.disabled) return;
  field.value = example.textContent;
  field.focus();
  form.requestSubmit();
});
