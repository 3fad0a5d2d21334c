// What waits for the visitor in all chats: its number on every page, and one notification of each thing while no page is
// looked at. One tab of a browser asks the server, which answers when something changes, and tells the others.

import { ask } from "./net.js";
import { notify, takeBack } from "./notify.js";

const ADDRESS = "/admin/api/inbox";
const PAUSE = 3000; // milliseconds after a failure
const ASKS = "parley-inbox";
const TAG = "inbox-";
const LOOKED_AT = "parley-looked-at";
const KNOWN = "parley.inbox"; // ids of what the visitor was told of

const tabs = new BroadcastChannel(ASKS);
const later = () => new Promise((done) => setTimeout(done, PAUSE));

// Calls `show` with the present news and each time they change.
export function followInbox(show) {
  tabs.onmessage = ({ data }) => show(data);
  navigator.locks.request(ASKS, () => follow(show));
  look(show);
  document.addEventListener("visibilitychange", () => (document.hidden ? null : look(show)));
}

async function look(show) {
  const answer = await ask(ADDRESS).catch(() => null);
  if (answer?.ok) show(await answer.json());
}

async function follow(show) {
  for (let known = ""; ; ) {
    const answer = await ask(`${ADDRESS}?known=${known}`).catch(() => null);
    if (answer?.status === 403 || answer?.status === 404) return;
    if (!answer?.ok) {
      await later();
      continue;
    }
    const news = await answer.json();
    known = news.version;
    show(news);
    tabs.postMessage(news);
    await tell(news.items);
  }
}

// Notifies of what is new and waits in another chat than the page's own, whose questions the page notifies of itself, and
// takes back what has been dealt with.
async function tell(items) {
  await takeBack(TAG, new Set(items.map((item) => TAG + item.id)));
  const told = new Set(JSON.parse(localStorage.getItem(KNOWN) ?? "[]"));
  const { held, pending } = await navigator.locks.query(); // a tab that was just opened still waits for its lock
  localStorage.setItem(KNOWN, JSON.stringify(items.map((item) => item.id)));
  if ([...held, ...pending].some((lock) => lock.name === LOOKED_AT)) return;
  for (const { id, title, where, is_elsewhere } of items) {
    if (is_elsewhere && !told.has(id)) await notify(title, { body: where, tag: TAG + id, data: "/admin/inbox" });
  }
}

// While a tab is looked at, it holds a lock by which the others know. It may be left before it gets the lock.
let leave = () => null;

function mark() {
  leave();
  if (document.hidden) return;
  const left = new Promise((done) => (leave = done));
  navigator.locks.request(LOOKED_AT, { mode: "shared" }, () => left);
}

document.addEventListener("visibilitychange", mark);
mark();
