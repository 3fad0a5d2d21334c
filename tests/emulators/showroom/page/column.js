// One platform: its conversations, what is written there, and what the visitor does.

import { element } from "./markup.js";
import { Shown, dots, sourceOf } from "./message.js";

const TOGETHER_SECONDS = 180;
const IDEAS = ["What is 17 × 23?", "Plan my day"];
const MENTION = "@Parley ";
const MOST_BYTES = 10 * 1024 * 1024;

export class Column {
  constructor(about, ask) {
    this.about = about;
    this.ask = ask; // (action, body) -> what went wrong, or ""
    this.person = "";
    this.room = "direct";
    this.rooms = {};
    this.condition = { connected: false, commands: {}, armed: [], violations: [] };
    this.shown = new Map();
    this.threads = new Map();
    this.answering = {};
    this.notices = {};
    this.element = document.getElementById("column").content.firstElementChild.cloneNode(true);
    this.element.classList.add(about.name);
    this.find = (selector) => this.element.querySelector(selector);
    this.log = this.find(".log");
    this.list = this.find(".list");
    this.text = this.find("textarea");
    this.build();
  }

  build() {
    const { title } = this.about;
    this.element.ariaLabel = title;
    this.find("h2").textContent = title;
    this.log.ariaLabel = `Messages on ${title}`;
    this.text.ariaLabel = `Message on ${title}`;
    this.find(".rooms").ariaLabel = `Conversation on ${title}`;
    for (const [room, label] of [["direct", "Direct"], ["group", this.about.group]]) {
      const button = element("button", { type: "button", onclick: () => this.go(room) }, label);
      button.dataset.room = room;
      this.find(".rooms").append(button);
    }
    for (const [name, label] of Object.entries(this.about.troubles)) {
      const cause = () => this.tell(this.ask("trouble", { trouble: name }));
      this.find(".kinds").append(element("button", { type: "button", onclick: cause }, label));
    }
    this.find(".attach").onclick = () => this.find(".pick").click();
    this.find(".pick").onchange = (event) => this.attach(event.target.files[0]);
    this.find(".context button").onclick = () => this.answer({});
    this.text.addEventListener("input", () => this.typed());
    this.find(".composer").addEventListener("focusout", (event) => {
      if (!this.find(".composer").contains(event.relatedTarget)) this.find(".menu").hidden = true;
    });
    this.text.addEventListener("focus", () => this.typed());
    this.text.addEventListener("keydown", (event) => this.key(event));
    this.find(".composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    new ResizeObserver(() => this.followed && this.toEnd()).observe(this.log);
    this.log.addEventListener("scroll", () => (this.followed = this.atEnd()), { passive: true });
    this.followed = true;
  }

  get place() {
    return this.room === "group" ? "group" : `direct-${this.person}`;
  }

  become(person) {
    this.person = person;
    this.go(this.room);
  }

  go(room) {
    this.room = room;
    this.element.dataset.room = room;
    for (const each of this.find(".rooms").children) each.ariaPressed = String(each.dataset.room === room);
    this.shown.clear();
    this.threads.clear();
    this.list.replaceChildren();
    this.find(".menu").hidden = true;
    this.answer({});
    this.followed = true;
    this.show();
  }

  // What comes from the server

  learn(condition) {
    this.condition = condition;
    const state = this.find(".state");
    state.textContent = condition.connected ? "connected" : "not connected";
    state.classList.toggle("on", condition.connected);
    this.find(".armed").replaceChildren(...condition.armed.map((label) => element("span", {}, label)));
    const violations = this.find(".violations");
    violations.hidden = condition.violations.length === 0;
    violations.firstElementChild.textContent = `${condition.violations.length} of the bot’s calls broke ${this.about.title}’s rules`;
    violations.lastElementChild.replaceChildren(...condition.violations.map((each) => element("li", {}, each)));
  }

  see(room, sight) {
    this.rooms[room] = sight;
    const known = this.notices[room] ?? sight.notices.length;
    this.notices[room] = sight.notices.length;
    if (room !== this.place) return;
    if (sight.notices.length > known) this.say(`${this.about.title}: ${sight.notices.at(-1)}`);
    this.show();
  }

  show() {
    const { messages, signs } = this.rooms[this.place] ?? { messages: [], signs: [] };
    const visible = messages.filter((each) => !each.only_for || each.only_for === this.person);
    const roots = visible.filter((each) => !each.thread);
    const replies = Map.groupBy(visible.filter((each) => each.thread), (each) => each.thread);
    this.forget(new Set(visible.map((each) => each.id)));
    const order = [];
    roots.forEach((message, index) => {
      order.push(this.draw(message, roots[index - 1]));
      const inside = replies.get(message.id) ?? [];
      const said = signs.filter((sign) => sign.thread === message.id);
      if (inside.length || said.length) order.push(this.thread(message, inside, said));
    });
    if (!roots.length) order.push(this.welcome());
    arrange(this.list, order);
    this.find(".signs").replaceChildren(...signs.filter((sign) => !sign.thread).map(signed));
    if (this.followed) this.toEnd();
  }

  forget(kept) {
    for (const id of this.shown.keys()) if (!kept.has(id)) this.shown.delete(id);
  }

  draw(message, before) {
    if (!this.shown.has(message.id)) this.shown.set(message.id, new Shown(this));
    const shown = this.shown.get(message.id);
    const sameHand = before && !message.by_bot && before.who === message.who && message.at - before.at < TOGETHER_SECONDS;
    const follows = Boolean(sameHand && !message.quote);
    shown.update(message, { own: !message.by_bot && message.who === this.person, follows });
    return shown.element;
  }

  thread(root, inside, signs) {
    if (!this.threads.has(root.id)) {
      const reply = element("button", { type: "button", className: "join" }, "Reply in thread");
      reply.onclick = () => this.answer({ thread: root });
      const made = element("div", { className: "thread", role: "group", ariaLabel: "Thread" }, element("p", { className: "count" }), element("div"), element("div", { className: "signs" }), reply);
      this.threads.set(root.id, made);
    }
    const made = this.threads.get(root.id);
    const [count, list, typing] = made.children;
    count.textContent = inside.length === 1 ? "1 reply" : `${inside.length} replies`;
    arrange(list, inside.map((message, index) => this.draw(message, inside[index - 1])));
    typing.replaceChildren(...signs.map(signed));
    return made;
  }

  welcome() {
    const prefix = this.room === "group" ? MENTION : "";
    const ideas = [...IDEAS, this.about.help].map((idea) => {
      const words = idea.startsWith("/") ? idea : `${prefix}${idea}`;
      return element("button", { type: "button", onclick: () => this.send(words) }, words);
    });
    return element("div", { className: "welcome" }, element("p", {}, "Nothing here yet. Say something, or try:"), ...ideas);
  }

  // What the visitor does

  offers(message) {
    const reply = ["Reply", () => this.answer({ reply: message })];
    const thread = ["Thread", () => this.answer({ thread: message })];
    if (this.about.name === "telegram") return [reply];
    if (message.thread) return [];
    if (this.about.name === "slack") return [thread];
    return this.room === "group" ? [reply, thread] : [reply];
  }

  answer(answering) {
    this.answering = answering;
    const { reply, thread, edit, file } = answering;
    const context = this.find(".context");
    context.hidden = !(reply || thread || edit || file);
    const about = (label, message) => `${label}: ${sourceOf(message).slice(0, 80)}`;
    context.firstElementChild.textContent =
      (reply && about("Reply to", reply)) || (thread && about("In the thread of", thread)) || (edit && about("Edit", edit)) || (file?.name ?? "");
    if (edit) this.text.value = sourceOf(edit);
    const where = this.room === "group" ? `${this.about.group}, mention @Parley` : "Parley";
    this.text.placeholder = thread ? "Reply in the thread" : `Message ${where}`;
    this.text.title = this.about.hint;
    if (!context.hidden) this.text.focus();
  }

  async attach(file) {
    this.find(".pick").value = "";
    if (!file) return;
    if (file.size > MOST_BYTES) return this.say("That file is larger than 10 MB.");
    const bytes = new Uint8Array(await file.arrayBuffer());
    const content = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    this.answer({ ...this.answering, file: { name: file.name, mime: file.type || "application/octet-stream", content } });
  }

  key(event) {
    if (event.key === "Tab" && !event.shiftKey && !this.find(".menu").hidden) {
      event.preventDefault();
      this.find(".menu button").click();
    }
    if (event.key === "Escape") {
      this.find(".menu").hidden = true;
      this.answer({});
    }
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.submit();
  }

  typed() {
    const begun = this.text.value.match(/^\/([\w-]*)$/);
    const fitting = begun ? Object.entries(this.condition.commands).filter(([name]) => name.startsWith(begun[1])) : [];
    const menu = this.find(".menu");
    menu.hidden = !fitting.length;
    menu.replaceChildren(...fitting.map(([name, about]) => this.choice(name, about)));
  }

  choice(name, about) {
    const choose = () => {
      this.text.value = `/${name} `;
      this.typed();
      this.text.focus();
    };
    return element("li", {}, element("button", { type: "button", onclick: choose }, element("b", {}, `/${name}`), " ", about));
  }

  command(words) {
    this.send(this.about.help.replace("help", words));
  }

  submit() {
    const words = this.text.value.trim();
    if (!words && !this.answering.file) return;
    this.text.value = "";
    this.typed();
    this.send(words);
  }

  async send(words) {
    const { reply, thread, edit, file } = this.answering;
    const here = { room: this.place, person: this.person };
    this.answer({});
    this.followed = true;
    this.text.focus();
    const wrong = edit
      ? await this.ask("edit", { ...here, message: edit.id, text: words })
      : await this.ask("say", { ...here, text: words, reply_to: reply?.id ?? null, thread: thread?.id ?? null, file: file ?? null });
    if (wrong) {
      this.say(wrong);
      this.text.value ||= words;
    }
  }

  press(message, button) {
    const about = { room: this.place, person: this.person, message: message.id, label: button.label, data: button.data };
    this.tell(this.ask("press", about));
  }

  async tell(asked) {
    this.say(await asked);
  }

  say(words) {
    const toast = this.find(".toast");
    toast.textContent = words;
    toast.hidden = !words;
    clearTimeout(this.toasting);
    this.toasting = setTimeout(() => (toast.hidden = true), 8000);
  }

  atEnd() {
    return this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 60;
  }

  toEnd() {
    this.log.scrollTop = this.log.scrollHeight;
  }
}

function signed(sign) {
  return element("p", { className: "sign" }, `Parley ${sign.text.replace(/[.…]+$/, "")}`, dots());
}

function arrange(parent, order) {
  order.forEach((child, index) => {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  });
  while (parent.children.length > order.length) parent.lastElementChild.remove();
}
