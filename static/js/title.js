// The first message gives the conversation its title: taken over from the page the server has now.
import { refresh } from "./times.js";

export const refreshTitle = async (path) => {
  const page = new DOMParser().parseFromString(await (await fetch(path)).text(), "text/html");
  document.title = page.title;
  for (const place of [".chat-head h1", "#conversations"])
    document.querySelector(place).replaceWith(document.adoptNode(page.querySelector(place)));
  htmx.process(document.getElementById("conversations"));
  refresh();
};
