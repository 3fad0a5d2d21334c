// The displayed conversation: messages in order of time, edited in place by deltas of their HTML.

import { words, chinese, element } from "./words.js";
import { withTicket } from "./net.js";
import { picture } from "./pictures.js";

const log = document.getElementById("log");
const announcer = document.getElementById("announcer");
const clock = new Intl.DateTimeFormat(chinese ? "zh" : undefined, { hour: "2-digit", minute: "2-digit" });
const calendar = new Intl.DateTimeFormat(chinese ? "zh" : undefined, { weekday: "long", day: "numeric", month: "long" });

const STATES = { running: "…", waiting: "…", done: "✓", failed: "✗" };

export class Log {
  #shown = new Map(); // id -> { node, body, extra, foot, reasoning, calls, data }
  #on;

  // on: press(id, action), retry(), edit(id, text), detail(id, call), follow(change)
  constructor(on) {
    this.#on = on;
  }

  get empty() {
    return this.#shown.size === 0;
  }

  has(id) {
    return this.#shown.has(id);
  }

  ids() {
    return [...this.#shown.keys()];
  }

  // Shows a whole message, new or changed.
  put(data) {
    const old = this.#shown.get(data.id);
    if (old && old.data.at === data.at) return this.#read(old, data);
    if (old) old.node.remove();
    const message = this.#make(data);
    this.#shown.set(data.id, message);
    this.#insert(message);
    return message;
  }

  clear() {
    this.#shown.clear();
    log.replaceChildren();
  }

  // Puts earlier messages above the first one.
  prepend(messages) {
    const first = log.firstElementChild;
    for (const data of messages) {
      if (this.#shown.has(data.id)) continue;
      const message = this.#make(data);
      this.#shown.set(data.id, message);
      log.insertBefore(message.node, first);
      this.#day(message.node);
    }
    if (first) this.#day(first);
  }

  // Returns the element of a message; undefined if it is not here.
  node(id) {
    return this.#shown.get(id)?.node;
  }

  // Returns the last message that the person wrote and can edit, with its text.
  lastSaid() {
    const own = [...log.querySelectorAll("article.person:not(.pending, .failed)")].reverse();
    const last = own.find((node) => !textOf(node).startsWith("/") && textOf(node));
    return last ? { id: last.dataset.id, text: textOf(last) } : null;
  }

  // Applies a delta to a message. Throws if it does not fit the displayed text.
  edit(change) {
    const message = this.#shown.get(change.id);
    if (!message) throw new RangeError("an edit of a message that is not here");
    if (change.revision <= message.data.revision) return;
    if (change.revision !== message.data.revision + 1) throw new RangeError("an edit of another revision");
    const html = changed(message.data.html, change);
    const reasoning = changed(message.data.reasoning, change.reasoning);
    const { revision, buttons, attachments } = change;
    const calls = change.calls ?? message.data.calls;
    this.#read(message, { ...message.data, html, reasoning, revision, buttons, attachments, calls });
  }

  remove(id) {
    const message = this.#shown.get(id);
    if (!message) return;
    const next = message.node.nextElementSibling;
    message.node.remove();
    this.#shown.delete(id);
    if (next) this.#day(next);
  }

  // Sets the status below a message that is being sent: a text, and buttons by label.
  state(id, text, actions = []) {
    const message = this.#shown.get(id);
    if (!message) return;
    message.foot.replaceChildren(
      ...(text ? [element("span", { textContent: text })] : []),
      ...actions.map(([label, act]) => element("button", { type: "button", textContent: label, onclick: act })),
    );
    message.node.classList.toggle("pending", Boolean(text) && !actions.length);
    message.node.classList.toggle("failed", actions.length > 0);
  }

  #make(data) {
    const time = element("time", { dateTime: new Date(data.at * 1000).toISOString() });
    time.textContent = clock.format(data.at * 1000);
    const name = element("h3", { textContent: data.who === "person" ? words.you : words.parley });
    const body = element("div", { className: "body", dir: "auto" });
    const extra = element("div", { className: "extra" });
    const foot = element("p", { className: "foot" });
    const node = element("article", { className: data.who }, element("p", { className: "day" }));
    const bubble = element("div", { className: "bubble" }, element("div", { className: "head" }, name, time), body, extra);
    node.append(bubble, foot, this.#tools(node, data));
    Object.assign(node.dataset, { at: data.at, id: data.id });
    const message = { node, body, extra, foot, data: { ...data, html: "" } };
    this.#read(message, data);
    return message;
  }

  // What can be done with a message: copy it, and edit it or have it answered again.
  #tools(node, data) {
    const copy = element("button", { type: "button", className: "bare", textContent: words.copy });
    copy.onclick = () => copied(copy, textOf(node));
    const second = element("button", { type: "button", className: "bare" });
    if (data.who === "person") {
      Object.assign(second, { textContent: words.edit, onclick: () => this.#on.edit(data.id, textOf(node)) });
    } else {
      Object.assign(second, { textContent: words.answer_again, className: "bare retry", onclick: () => this.#on.retry() });
    }
    return element("div", { className: "tools" }, copy, second);
  }

  #insert(message) {
    let before = null;
    for (let node = log.lastElementChild; node && Number(node.dataset.at) > message.data.at; node = node.previousElementSibling)
      before = node;
    log.insertBefore(message.node, before);
    this.#day(message.node);
    if (before) this.#day(before);
  }

  // Shows the day above its first message.
  #day(node) {
    const day = (at) => new Date(at * 1000).toDateString();
    const own = day(node.dataset.at);
    const first = !node.previousElementSibling || day(node.previousElementSibling.dataset.at) !== own;
    const since = Math.round((new Date(new Date().toDateString()) - new Date(own)) / 86_400_000);
    const label = [words.today, words.yesterday][since] ?? calendar.format(new Date(own));
    node.firstElementChild.textContent = first ? label : "";
  }

  #read(message, data) {
    const wasLive = message.node.classList.contains("live");
    const live = data.buttons.some((row) => row.some((button) => /^\/?stop/.test(button.action)));
    if (message.node.isConnected) message.body.ariaLive = "off"; // screen readers announce the final text, not each step
    message.node.classList.toggle("live", live);
    message.node.ariaBusy = String(live);
    draw(message.body, data.html);
    message.node.classList.toggle("rule", data.who === "person" && /^\/new\b/.test(message.body.textContent));
    message.node.classList.toggle("command", data.who === "person" && message.body.textContent.startsWith("/"));
    this.#calls(message, data.calls ?? []);
    this.#reason(message, data.reasoning);
    this.#extras(message, data);
    message.data = data;
    if (wasLive && !live) announcer.textContent = `${words.parley}: ${message.body.textContent.trim().slice(0, 600)}`;
    return message;
  }

  // Shows the model's reasoning, collapsed until the user opens it.
  #reason(message, html) {
    if (!html) return message.reasoning?.remove(), (message.reasoning = null);
    if (!message.reasoning) {
      message.reasoning = element("details", { className: "reasoning" }, element("summary", { textContent: words.reasoning }));
      message.reasoning.append(element("div", { className: "body", dir: "auto", ariaLive: "off" }));
      message.body.before(message.reasoning);
    }
    draw(message.reasoning.lastElementChild, html);
  }

  // Shows the tool calls as rows that open.
  #calls(message, calls) {
    if (!calls.length) return message.calls?.node.remove(), (message.calls = null);
    if (!message.calls) {
      message.calls = { node: element("div", { className: "calls" }), rows: new Map() };
      message.body.before(message.calls.node);
    }
    const { node, rows } = message.calls;
    for (const call of calls) {
      if (!rows.has(call.id)) {
        rows.set(call.id, this.#callRow(message, call));
        node.append(rows.get(call.id).row);
      }
      const row = rows.get(call.id);
      const time = call.ms >= 1000 ? `${Math.round(call.ms / 1000)} s` : call.state === "done" && call.ms ? `${call.ms} ms` : "";
      row.mark.textContent = STATES[call.state];
      row.label.textContent = call.label;
      row.note.textContent = [call.note, time].filter(Boolean).join(" · ");
      row.row.className = `call ${call.state}`;
    }
  }

  #callRow(message, call) {
    const [mark, label, note] = ["mark", "label", "note"].map((className) => element("span", { className }));
    const detail = element("div", { className: "detail" });
    const row = element("details", { className: "call" }, element("summary", {}, mark, " ", label, " ", note), detail);
    row.ontoggle = async () => {
      if (!row.open) return;
      detail.textContent = words.loading;
      const found = await this.#on.detail(message.data.id, call.id);
      this.#on.follow(() => detail.replaceChildren(...(found ? shownCall(found) : [words.no_detail])));
    };
    return { row, mark, label, note };
  }

  #extras(message, data) {
    const key = JSON.stringify([data.buttons, data.attachments]);
    if (message.extras === key) return;
    message.extras = key;
    const rows = data.buttons.map((row) =>
      element("div", { className: "buttons" }, ...row.map((button) => this.#button(data.id, button))),
    );
    const files = data.attachments.map(fileLink);
    message.extra.replaceChildren(...(files.length ? [element("div", { className: "attached" }, ...files)] : []), ...rows);
  }

  #button(id, { label, action, style }) {
    const made = element("button", { type: "button", textContent: label, className: style });
    made.onclick = async () => {
      made.disabled = true;
      made.disabled = await this.#on.press(id, action);
    };
    return made;
  }
}

// Applies a delta: keep a prefix of the text, then append.
function changed(text, { keep, add }) {
  if (keep > text.length) throw new RangeError("an edit of another text");
  return text.slice(0, keep) + add;
}

const drawn = new WeakMap(); // node -> the HTML of its blocks

// Unchanged blocks are not touched, which keeps their selection and scroll position.
function draw(node, html) {
  const template = element("template", { innerHTML: html });
  const blocks = [...template.content.children];
  const texts = blocks.map((block) => block.outerHTML);
  const old = drawn.get(node) ?? [];
  let same = 0;
  while (same < texts.length && texts[same] === old[same]) same += 1;
  while (node.children.length > same) node.lastElementChild.remove();
  node.append(...blocks.slice(same).map(withCopy));
  drawn.set(node, texts);
}

function withCopy(block) {
  for (const pre of block.matches("pre") ? [block] : block.querySelectorAll("pre")) {
    pre.tabIndex = 0;
    const button = element("button", { type: "button", className: "copy", textContent: words.copy });
    const code = pre.textContent;
    button.onclick = () => copied(button, code);
    const frame = element("div", { className: "code" });
    pre.replaceWith(frame);
    frame.append(pre, button);
    if (pre === block) return frame;
  }
  return block;
}

async function copied(button, text) {
  await navigator.clipboard.writeText(text);
  button.textContent = words.copied;
  setTimeout(() => (button.textContent = words.copy), 1500);
}

// The text of a message: as it was typed, or as it reads.
function textOf(node) {
  const body = node.querySelector(".bubble > .body");
  return (body.querySelector(".typed")?.textContent ?? body.innerText).trim();
}

// What is stored of a tool call: its arguments, its result, how long it took and what it cost.
function shownCall({ arguments: given, result, error, ms, cost }) {
  const part = (name, text) => [element("h4", { textContent: name }), element("pre", { textContent: text, tabIndex: 0 })];
  const facts = [ms === null ? "" : `${(ms / 1000).toFixed(2)} s`, cost ? words.cost(cost) : ""].filter(Boolean);
  return [
    ...(given ? part(words.arguments, given) : []),
    ...(result ? part(words.result, result) : []),
    ...(error ? part(words.error, error) : []),
    ...(facts.length ? [element("p", { textContent: facts.join(" · ") })] : []),
  ];
}

function fileLink(file) {
  if (file.image) {
    return element("a", { href: withTicket(file.url), target: "_blank", rel: "noopener", className: "picture" }, picture(file));
  }
  const size = file.size === null ? "" : ` · ${inWords(file.size)}`;
  const name = element("bdi", { className: "name", textContent: file.name, title: file.name });
  return element("a", { href: withTicket(file.url), download: file.name, className: "file" }, name, size);
}

export function inWords(bytes) {
  return bytes < 1024 * 1024 ? `${Math.max(1, Math.round(bytes / 1024))} kB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
