// The page: connects the list of conversations, the open one, and the composer.

import { words, translatePage, element } from "./words.js";
import { Log } from "./log.js";
import { Outbox } from "./outbox.js";
import { Room } from "./room.js";
import { List } from "./list.js";
import { Composer } from "./composer.js";
import { View } from "./view.js";
import { Notices } from "./notices.js";
import { followInbox } from "./inbox.js";
import { post, read } from "./net.js";

const LAST = "parley.conversation";
const NAME = /^(main|[A-Za-z0-9-]{8,64})$/;
const by = (id) => document.getElementById(id);

const view = new View();
const log = new Log({ press, retry: () => press("", "/retry"), edit: (id, text) => composer.edit(id, text), detail, follow: view.following });
const outbox = new Outbox(log, refused);
const room = new Room({ log, outbox, view, connected, lost, refused, listed });
const notices = new Notices(open);
const list = new List({ open, begin, gone: (id) => id === room.name && begin() });
const composer = new Composer({ room, outbox, log, view, say, asked: who });

// Conversations

function open(name) {
  if ((location.hash.slice(1) || "main") !== name) history.pushState(null, "", `#${name}`);
  document.body.classList.remove("listing");
  by("open-side").ariaExpanded = "false";
  if (room.name === name) return composer.focus();
  composer.leave();
  room.open(name);
  list.mark(name);
  localStorage.setItem(LAST, name);
  title();
  composer.enter();
}

function begin() {
  open(crypto.randomUUID());
  composer.focus();
}

function listed(event) {
  list.apply(event);
  notices.hear(event, list.title(event.conversation));
  if (event.conversation === room.name) title();
  if (event.unread && event.conversation === room.name && !document.hidden) list.see(room.name);
}

function title() {
  const name = list.title(room.name);
  by("title").textContent = name || words.fresh;
  document.title = name ? `${name} · Parley` : "Parley";
}

function opened() {
  const wanted = location.hash.slice(1) || sessionStorage.getItem(LAST) || localStorage.getItem(LAST) || "main";
  return NAME.test(wanted) ? wanted : "main";
}

addEventListener("popstate", () => open(opened()));
by("new").onclick = begin;
by("open-side").onclick = () => {
  by("open-side").ariaExpanded = String(document.body.classList.toggle("listing"));
};

// Connection

function connected() {
  by("connection").hidden = true;
  who();
  list.load();
  outbox.pump();
  if (!by("welcome").hidden) offer();
}

// Names the platforms to an owner who has connected none.
async function offer() {
  const places = (await read("/admin/api/connect"))?.places ?? [];
  const links = places.flatMap(([name, title]) => [" ", element("a", { href: `/admin/connect/${name}`, textContent: title })]);
  by("offers").replaceChildren(words.talk_on, ...links);
  by("offers").hidden = !places.length;
}

function lost() {
  by("connection").textContent = words.lost;
  by("connection").hidden = false;
}

function refused() {
  room.close();
  by("connection").textContent = words.refused;
  by("connection").hidden = false;
}

function say(text) {
  by("notice").textContent = text;
}

async function press(message_id, action) {
  say("");
  const body = { id: crypto.randomUUID(), conversation: room.name, message_id, action };
  const answer = await post("/api/buttons", body).catch(() => null);
  if (answer?.ok) return true;
  say(words.press_failed);
  return false;
}

async function detail(message_id, call) {
  return read("/api/calls", { conversation: room.name, message: message_id, call });
}

async function who() {
  const told = await read("/api/about");
  if (!told) return;
  const { why, is_ai, has_model, version } = told;
  const model = has_model ? told.model : words.no_model;
  by("about").classList.toggle("no-ai", !is_ai);
  by("set-model").hidden = is_ai;
  by("model").textContent = is_ai || !has_model ? model : `${model}, ${words.no_ai}`;
  by("why").textContent = why;
  by("about").title = `${model}: ${why} (Parley ${version})`;
}

addEventListener("online", () => outbox.pump());
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  who();
  if (list.isUnread(room.name)) list.see(room.name);
});

// Start

by("no-script").remove();
translatePage();
for (const idea of words.ideas) {
  const button = element("button", { type: "button", textContent: idea });
  button.onclick = () => composer.write(idea);
  by("ideas").append(element("li", {}, button));
}
list.onloaded = title;
followInbox(({ count }) => {
  const said = [" ", element("b", { textContent: count }), element("span", { className: "unseen", textContent: words.waiting })];
  by("waiting").replaceChildren(...(count ? said : []));
});
const begun = new URLSearchParams(location.search);
room.place = begun.get("at") ?? "";
open(opened());
const text = ["title", "text", "url"].map((name) => begun.get(name)).filter(Boolean).join("\n"); // of the palette, or shared
if (text || room.place) history.replaceState(null, "", location.pathname + location.hash);
if (text) composer.write(text);
if (matchMedia("(pointer: fine)").matches) composer.focus();
