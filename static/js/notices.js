// Shows a message beside an element and announces it; the next message replaces it.
export const say = (beside, words) => {
  document.querySelector("[data-notice]")?.remove();
  const notice = document.createElement("p");
  notice.dataset.notice = "";
  notice.setAttribute("role", "alert");
  notice.className = "errorlist";
  (beside.closest("li, section, main") ?? document.getElementById("main")).append(notice);
  notice.textContent = words;
};
