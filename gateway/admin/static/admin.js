// What the admin pages do beside htmx: the token of changes, errors, the menu of phones, closing an answer.

import { headers } from "/net.js";

const answer = document.getElementById("answer");

document.body.addEventListener("htmx:configRequest", (event) => {
  Object.assign(event.detail.headers, headers());
});

function tell(words) {
  const text = document.createElement("p");
  text.textContent = words;
  const box = document.createElement("div");
  box.className = "answer bad";
  box.append(text);
  answer.replaceChildren(box);
}

document.body.addEventListener("htmx:responseError", (event) => tell(event.detail.xhr.responseText));
document.body.addEventListener("htmx:sendError", () => tell(document.body.dataset.lost));
document.body.addEventListener("click", (event) => {
  if (event.target.closest("[data-close]")) answer.replaceChildren();
});

const menu = document.getElementById("menu");
menu.addEventListener("click", () => {
  const open = document.body.classList.toggle("menu-open");
  menu.setAttribute("aria-expanded", String(open));
});
