// Keys that belong to an input method (Enter takes a word, arrows choose one, Esc drops it) are none of the page's: no handler
// gets them. Safari reports the Enter that ends a composition after its end, with this key code only.
const OF_INPUT_METHOD = 229;

addEventListener("keydown", (event) => {
  if (event.isComposing || event.keyCode === OF_INPUT_METHOD) event.stopImmediatePropagation();
}, { capture: true });
