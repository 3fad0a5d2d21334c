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
  for (const step of document.querySelectorAll("article[inert]")) step.inert = false;
}

// While a step of a guide is done, a second press would be for a step that has passed.
document.body.addEventListener("htmx:beforeRequest", ({ target }) => {
  const step = target.closest("article[data-step]");
  if (step) step.inert = true;
});

// A form that was replaced while its request was under way cannot say itself that something has changed.
document.body.addEventListener("htmx:beforeRequest", ({ target, detail: { xhr } }) => {
  xhr.addEventListener("loadend", () => {
    const event = xhr.getResponseHeader("HX-Trigger");
    if (event && !target.isConnected) window.htmx.trigger(document.body, event);
  });
});

// Content that was asked for before a change may come after it, and hears of none until it is in its place.
let isComing = false;
let isOld = false;
function hasCome() {
  isComing = false;
  if (!isOld) return;
  isOld = false;
  window.htmx.trigger(document.body, "changed");
}
document.body.addEventListener("changed", () => { isOld ||= isComing; }, true);
document.body.addEventListener("htmx:beforeRequest", ({ target, detail: { xhr } }) => {
  if (target.id !== "content") return;
  isComing = true;
  xhr.addEventListener("loadend", () => { if (target.isConnected) hasCome(); }); // it was not replaced
});
document.body.addEventListener("htmx:load", ({ target }) => { if (target.id === "content") hasCome(); });

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
