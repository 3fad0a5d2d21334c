// The service worker: keeps the page's own files, and nothing of what is said. Without a network it says so. It also shows
// notifications, and opens what they are about.

const KEPT = "parley-shell-1";
const OFFLINE = "/offline.html";
const SHELL = [OFFLINE, "/design.css", "/style.css", "/chat.css", "/icon.svg"];

addEventListener("install", (event) => {
  event.waitUntil(caches.open(KEPT).then((cache) => cache.addAll(SHELL)));
  skipWaiting();
});

addEventListener("activate", (event) => {
  const old = (names) => names.filter((name) => name !== KEPT);
  event.waitUntil(caches.keys().then((names) => Promise.all(old(names).map((name) => caches.delete(name)))));
});

addEventListener("fetch", (event) => {
  const { request } = event;
  const path = new URL(request.url).pathname;
  if (request.mode === "navigate" && path === "/") event.respondWith(fetch(request).catch(() => caches.match(OFFLINE)));
  else if (SHELL.includes(path)) event.respondWith(fetch(request).catch(() => caches.match(path)));
});

// What the server pushes is shown as it says, instead of what is shown under the same tag; under the lock of notify.js, for
// a tab that asks for the notifications at that moment would make the browser forget this one.
addEventListener("push", (event) => {
  const { title, ...about } = event.data.json();
  const shown = () => registration.showNotification(title, { icon: "/icon.svg", ...about });
  event.waitUntil(navigator.locks.request("parley-notifications", shown));
});

addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data));
});

// Opens an address of the page, or a conversation. No tab that shows something else is led away from it.
async function show(what) {
  const path = what.startsWith("/") ? what : "/";
  const tabs = await clients.matchAll({ type: "window", includeUncontrolled: true });
  const tab = tabs.find(({ url }) => new URL(url).pathname === path);
  if (!tab) return clients.openWindow(path === what ? what : `/#${what}`);
  await tab.focus();
  if (path !== what) tab.postMessage({ open: what });
}
