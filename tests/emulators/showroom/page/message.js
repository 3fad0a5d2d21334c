// One message as an element. `update` touches only what has changed, so that a button under the pointer stays itself.

import { element, marked } from "./markup.js";

const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

export class Shown {
  constructor(column) {
    this.column = column;
    this.now = {};
    this.avatar = element("span", { className: "avatar", ariaHidden: "true" });
    this.used = element("p", { className: "used" });
    this.quote = element("p", { className: "quote" });
    this.head = element("header");
    this.words = element("div", { className: "words" });
    this.files = element("div", { className: "files" });
    this.stamp = element("footer");
    this.keys = element("div", { className: "keys" });
    this.reactions = element("p", { className: "reactions" });
    this.actions = element("p", { className: "actions" });
    const bubble = element("div", { className: "bubble" }, this.head, this.quote, this.words, this.files, this.stamp);
    const body = element("div", { className: "body" }, this.used, bubble, this.keys, this.reactions, this.actions);
    this.element = element("article", {}, this.avatar, body);
  }

  update(message, { own, follows }) {
    this.message = message;
    this.element.className = ["message", own && "own", message.by_bot && "by-bot", follows && "follows", message.waiting && "waiting"].filter(Boolean).join(" ");
    this.element.dataset.id = message.id;
    this.part("parts", [message.parts, message.waiting, message.edited], () => this.showWords());
    this.part("head", [message.who, message.at, message.only_for, message.edited, message.used, message.quote], () => this.showHead());
    this.part("keys", [message.buttons, message.menus], () => this.showKeys());
    this.part("files", message.files, () => this.showFiles());
    this.part("reactions", message.reactions, () => this.reactions.replaceChildren(...message.reactions.map((each) => element("span", {}, each))));
    this.part("actions", [own, message.thread], () => this.showActions(own));
  }

  part(name, value, show) {
    const said = JSON.stringify(value);
    if (this.now[name] === said) return;
    this.now[name] = said;
    show();
  }

  showWords() {
    const { parts, waiting, edited } = this.message;
    const made = parts.map((part) => (part.role.endsWith("plan") ? plan(part) : element("div", { className: part.role || "text" }, ...marked(part))));
    if (waiting) made.push(element("div", { className: "text" }, "Parley is thinking", dots()));
    if (edited) {
      const mark = element("span", { className: "edited" }, "(edited)");
      const last = made.at(-1)?.lastElementChild;
      const line = last?.classList.contains("item") ? last.lastElementChild : last;
      if (last?.tagName === "P") line.append(" ", mark);
      else made.push(mark);
    }
    this.words.replaceChildren(...made);
  }

  showHead() {
    const { who, at, only_for: only, edited, used, quote, by_bot: byBot } = this.message;
    const when = new Date(at * 1000);
    const clock = () => element("time", { dateTime: when.toISOString() }, time.format(when));
    this.avatar.textContent = who[0];
    this.avatar.dataset.who = byBot ? "bot" : who;
    const name = element("h3", {}, who);
    name.dataset.who = byBot ? "bot" : who;
    this.head.replaceChildren(name, ...(byBot ? [element("span", { className: "badge" }, "APP")] : []), clock());
    if (only) this.head.append(element("span", { className: "only" }, "Only visible to you"));
    this.stamp.replaceChildren(...(edited ? [element("span", {}, "edited")] : []), clock());
    this.used.textContent = used;
    this.quote.replaceChildren(...(quote ? [element("b", {}, quote.who), " ", quote.text] : []));
  }

  showKeys() {
    const rows = this.message.buttons.map((row) => element("div", {}, ...row.map((button) => this.key(button))));
    const menus = this.message.menus.map((menu) => element("div", {}, this.menu(menu)));
    this.keys.replaceChildren(...menus, ...rows);
  }

  key(button) {
    if (button.url) return element("a", { href: button.url, target: "_blank", rel: "noopener noreferrer" }, button.label);
    const made = element("button", { type: "button", className: button.style }, button.label);
    made.onclick = () => this.column.press(this.message, button);
    return made;
  }

  menu({ label, entries }) {
    const options = entries.map((entry, number) => element("option", { value: number }, entry.label));
    const made = element("select", { ariaLabel: label }, element("option", { value: "", hidden: true }, label), ...options);
    made.onchange = () => {
      this.column.press(this.message, entries[Number(made.value)]);
      made.value = "";
    };
    return made;
  }

  showFiles() {
    const made = this.message.files.map((file) => {
      const name = element("span", {}, file.name);
      const chip = element("a", { href: file.path, download: file.name, className: "file" }, name, element("small", {}, size(file.size)));
      if (file.is_image) chip.prepend(element("img", { src: file.path, alt: "" }));
      return chip;
    });
    this.files.replaceChildren(...made);
  }

  showActions(own) {
    const made = this.column.offers(this.message).map(([label, act]) => action(label, act));
    if (own) made.push(action("Edit", () => this.column.answer({ edit: this.message })));
    this.actions.replaceChildren(...made);
  }
}

function plan(part) {
  const [title, ...tasks] = part.text.split("\n").filter(Boolean);
  const open = part.role === "open plan";
  const rows = tasks.map((task) => element("li", {}, task));
  return element("details", { className: "plan", open }, element("summary", {}, title), element("ul", {}, ...rows));
}

function action(label, act) {
  const made = element("button", { type: "button" }, label);
  made.onclick = act;
  return made;
}

function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} kB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

export function dots() {
  return element("span", { className: "dots", ariaHidden: "true" }, element("i"), element("i"), element("i"));
}

export function sourceOf(message) {
  return message.parts.map((part) => part.text).join("\n");
}
