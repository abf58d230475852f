// Shows the name of a model above an answer where the answer before it has another one, as the server does.
export const nameOnce = (root) => {
  let before;
  for (const name of root.querySelectorAll(".message[data-role=assistant] > h2")) {
    if (name.textContent === before) name.className = "visually-hidden";
    else name.removeAttribute("class");
    before = name.textContent;
  }
};
