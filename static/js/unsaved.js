// What a person wrote or chose in one form stays when the reply to another one replaces the part of the page around both.
const FIELDS = "input:not([type=hidden]), textarea, select";
const CHECKED = ["checkbox", "radio"];
const HELD = ["csrfmiddlewaretoken", "basis"]; // differ from reply to reply

const initial = (field) => CHECKED.includes(field.type) ? field.defaultChecked
  : field.options ? [...field.options].map(({ defaultSelected }) => defaultSelected).join() : field.defaultValue;
const current = (field) => CHECKED.includes(field.type) ? field.checked
  : field.options ? [...field.options].map(({ selected }) => selected).join() : field.value;
// A select without a chosen option shows its first one.
const untouched = (field) => field.options && !field.multiple && !field.querySelector("[selected]")
  ? field.selectedIndex <= 0 : current(field) === initial(field);

// The form's address with what it is about, then the field: forms of rows differ by hidden fields only.
const keyOf = (field) => {
  const about = [...field.form?.querySelectorAll("input[type=hidden]") ?? []].filter(({ name }) => !HELD.includes(name));
  const value = CHECKED.includes(field.type) ? field.value : "";
  const address = field.form?.getAttribute("action") ?? field.form?.getAttribute("hx-post");
  return [address, ...about.map((one) => one.name + "=" + one.value), field.name, value].join("\n");
};

const changed = (part, sent) => [...part.querySelectorAll(FIELDS)].filter((field) =>
  field.name && field.form !== sent && field.type !== "file" && !untouched(field));

const put = (field, old) => {
  if (CHECKED.includes(field.type)) field.checked = old.checked;
  else if (field.options) [...field.options].forEach((option, index) => { option.selected = old.options[index].selected; });
  else field.value = old.value;
  if (old.selectionStart != null) field.setSelectionRange(old.selectionStart, old.selectionEnd);
  for (let fold = field.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
};

// Only where the site still has the value that the person began with.
const restore = (part, kept) => {
  const fields = new Map([...part.querySelectorAll(FIELDS)].map((field) => [keyOf(field), field]));
  for (const [key, old] of kept) {
    const field = fields.get(key);
    if (field && field !== old && initial(field) === initial(old)) put(field, old);
  }
};

let kept = [];
document.addEventListener("htmx:beforeSwap", ({ detail: { target, requestConfig } }) => {
  kept = changed(target, requestConfig.elt.closest("form")).map((field) => [keyOf(field), field]);
});
document.addEventListener("htmx:afterSwap", ({ target: fresh, detail: { target: old } }) => {
  if (kept.length) restore(old.isConnected ? old : document.getElementById(old.id) ?? fresh, kept);
  kept = [];
});
