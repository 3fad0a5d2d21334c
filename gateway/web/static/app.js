// The page: connects the log, the outbox, the files and the event stream.

import { words, translatePage, element } from "./words.js";
import { Log } from "./log.js";
import { Outbox } from "./outbox.js";
import { Files } from "./files.js";
import { Commands } from "./commands.js";

const DRAFT = "parley.draft";
const TYPING_SECONDS = 6;
const by = (id) => document.getElementById(id);
const [scroller, text, latest, typing, connection, notice] = ["scroller", "text", "latest", "typing", "connection", "notice"].map(by);

const log = new Log(press);
const outbox = new Outbox(log, refused);
const files = new Files(say);
const commands = new Commands((line) => {
  text.value = line;
  grow();
  text.focus();
});
let source = null;
let typingTimer = 0;

// Event stream

async function start() {
  try {
    const answer = await fetch("/api/history");
    if (answer.status === 403) return refused();
    if (!answer.ok) throw new TypeError(answer.statusText);
    const { messages, last } = await answer.json();
    following(() => drawAll(messages));
    listen(last);
  } catch {
    lost();
    setTimeout(start, 1500);
  }
}

function drawAll(messages) {
  const known = new Set(messages.map((message) => message.id));
  for (const id of log.ids()) if (!known.has(id) && !outbox.has(id)) log.remove(id);
  for (const message of messages) show(message);
  outbox.show();
}

function listen(last) {
  source?.close();
  source = new EventSource(`/api/events?after=${encodeURIComponent(last)}`);
  source.onopen = () => {
    connection.hidden = true;
    about();
    outbox.pump();
  };
  source.onmessage = (event) => following(() => apply(JSON.parse(event.data)));
  source.onerror = () => {
    lost();
    if (source.readyState === EventSource.CLOSED) setTimeout(start, 1500);
  };
}

function apply(event) {
  try {
    if (event.type === "message") show(event);
    else if (event.type === "edit") log.edit(event);
    else if (event.type === "delete") log.remove(event.id);
    else if (event.type === "typing") return showTyping(event.at);
    else throw new RangeError("events were missed");
    hideTyping(event);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    source.close(); // the delta does not fit the page: reload everything
    start();
  }
}

function show(message) {
  if (message.who === "person") outbox.confirm(message.id);
  log.put(message);
}

function lost() {
  connection.textContent = words.lost;
  connection.hidden = false;
}

function refused() {
  source?.close();
  connection.textContent = words.refused;
  connection.hidden = false;
}

// Scrolling: the view follows new messages if it is at the end, else it stays

function atEnd() {
  return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 80;
}

function toEnd() {
  scroller.scrollTop = scroller.scrollHeight;
}

function following(change) {
  const follow = atEnd();
  change();
  by("welcome").hidden = !log.empty;
  if (follow) toEnd();
  latest.hidden = atEnd();
}

// Only scrolling up leaves the end: a page that grows below it sends no such event, and is followed.
let lastTop = 0;
function scrolled() {
  const up = scroller.scrollTop < lastTop;
  lastTop = scroller.scrollTop;
  if (up || atEnd()) latest.hidden = atEnd();
}
scroller.addEventListener("scroll", scrolled, { passive: true });
const grown = new ResizeObserver(() => latest.hidden && toEnd());
grown.observe(scroller);
grown.observe(by("log"));
scroller.addEventListener("load", () => latest.hidden && toEnd(), { capture: true }); // pictures grow while they load
latest.onclick = () => {
  toEnd();
  text.focus();
};

// Typing

function showTyping(at) {
  const left = TYPING_SECONDS - (Date.now() / 1000 - at);
  if (left <= 0 || document.querySelector(".live")) return; // the progress message shows more
  typing.hidden = false;
  clearTimeout(typingTimer);
  typingTimer = setTimeout(() => (typing.hidden = true), left * 1000);
}

function hideTyping(event) {
  if (event.who !== "person") typing.hidden = true;
}

// Writing

function say(words) {
  notice.textContent = words;
}

function grow() {
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight}px`;
  sessionStorage.setItem(DRAFT, text.value);
}

function submit() {
  const obstacle = files.obstacle;
  say(obstacle);
  if (obstacle) return;
  const written = text.value.trim();
  const attached = files.take();
  if (!written && !attached.length) return;
  text.value = "";
  commands.hide();
  grow();
  following(() => {
    const posted = outbox.add(written, attached);
    if (written.startsWith("/")) posted.then(about);
  });
  toEnd();
}

addEventListener("online", () => outbox.pump());
text.addEventListener("input", grow);
text.addEventListener("input", () => commands.follow(text.value));
text.addEventListener("keydown", (event) => {
  if (event.key === "Escape") commands.hide();
  if (event.key === "Tab" && !event.shiftKey && commands.takeFirst()) return event.preventDefault();
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  submit();
});
by("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
  text.focus();
});

// Files: by button, by paste, by drop

by("attach").onclick = () => by("pick").click();
by("pick").onchange = (event) => {
  files.add(event.target.files);
  event.target.value = "";
};
text.addEventListener("paste", (event) => {
  if (!event.clipboardData.files.length) return;
  event.preventDefault();
  files.add(event.clipboardData.files);
});
const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
addEventListener("dragover", (event) => {
  if (!carriesFiles(event)) return;
  event.preventDefault();
  by("drop").hidden = false;
});
addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) by("drop").hidden = true;
});
addEventListener("drop", (event) => {
  by("drop").hidden = true;
  if (!carriesFiles(event)) return;
  event.preventDefault();
  files.add(event.dataTransfer.files);
});

// Buttons and status

async function press(message_id, action) {
  say("");
  const body = JSON.stringify({ id: crypto.randomUUID(), message_id, action });
  try {
    const answer = await fetch("/api/buttons", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    if (answer.ok) return true;
  } catch {
    // reported below, like any other failure
  }
  say(words.press_failed);
  return false;
}

async function about() {
  const answer = await fetch("/api/about").catch(() => null);
  if (!answer?.ok) return;
  const { model, why, demo, version } = await answer.json();
  by("about").classList.toggle("demo", demo);
  by("model").textContent = demo ? words.demo : model;
  by("why").textContent = why;
  by("about").title = `${model}: ${why} (Parley ${version})`;
}

// Start

translatePage();
for (const idea of words.ideas) {
  const button = element("button", { type: "button", textContent: idea });
  button.onclick = () => {
    text.value = idea;
    grow();
    text.focus();
  };
  by("ideas").append(element("li", {}, button));
}
text.value = sessionStorage.getItem(DRAFT) ?? "";
grow();
document.addEventListener("visibilitychange", () => document.hidden || about());
if (matchMedia("(pointer: fine)").matches) text.focus();
start();
