// Keeps the badges and the inbox as they are now. Cards that stay are not touched, so focus and typed words stay too.

import { followInbox } from "/inbox.js";

function badges(fresh) {
  for (const badge of document.querySelectorAll("[data-badge]")) {
    const found = fresh.querySelector(`[data-badge="${badge.dataset.badge}"]`);
    if (!found || found.innerHTML === badge.innerHTML) continue;
    badge.replaceChildren(...found.childNodes);
    badge.hidden = found.hidden;
  }
}

function renew(list, fresh) {
  const wanted = new Map([...fresh.children].map((card) => [card.dataset.key, card]));
  for (const card of [...list.children]) {
    if (wanted.has(card.dataset.key)) continue;
    if (card.contains(document.activeElement)) list.focus();
    card.remove();
  }
  let place = list.firstElementChild;
  for (const [key, card] of wanted) {
    if (place && place.dataset.key === key) {
      place = place.nextElementSibling;
    } else {
      list.insertBefore(card, place);
      window.htmx.process(card);
    }
  }
  list.dataset.version = fresh.dataset.version;
}

document.body.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target.id !== "content" || event.detail.isError) return;
  const page = new DOMParser().parseFromString(event.detail.serverResponse, "text/html");
  const list = document.querySelector("[data-live]");
  const fresh = page.querySelector("[data-live]");
  badges(page);
  if (!list || !fresh) return;
  event.detail.shouldSwap = false;
  renew(list, fresh);
});

followInbox(({ count, version }) => {
  const badge = document.querySelector("[data-badge=inbox]");
  badge.querySelector("b").textContent = count;
  badge.hidden = count === 0;
  const list = document.querySelector("[data-live=inbox]");
  if (list && list.dataset.version !== version) window.htmx.trigger(document.body, "changed");
});
