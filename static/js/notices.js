// A message beside an element that asked for something, announced to readers; the next one takes its place.
export const say = (beside, words) => {
  document.querySelector("[data-notice]")?.remove();
  const notice = document.createElement("p");
  notice.dataset.notice = "";
  notice.setAttribute("role", "alert");
  notice.className = "errorlist";
  beside.closest("li, section, main").append(notice);
  notice.textContent = words;
};
