// Completion of commands and of their arguments: shown above the input after a "/", accepted by a click, Tab or Enter.

import { chinese, element } from "./words.js";
import { post, read } from "./net.js";

const MOST = 8;
const ASK_MS = 120;
const list = document.getElementById("commands");
const text = document.getElementById("text");
const language = chinese ? "zh" : "en";

export class Commands {
  #known = null;
  #take;
  #room;
  #chosen = -1; // the row that Enter takes; none until an arrow was pressed
  #asking = 0;
  #asked = "";

  constructor(take, room) {
    this.#take = take;
    this.#room = room;
  }

  // Updates the list after the input has changed: the commands that begin so, or values for the argument being typed.
  async follow(typed) {
    this.#asked = typed;
    const begun = /^\/([a-z-]*)( ?)/i.exec(typed);
    const isWhole = begun?.[2] === " ";
    if (!begun || typed.includes("\n") || (!isWhole && begun[0] !== typed)) return this.hide();
    this.#known ??= await read("/api/commands");
    if (this.#asked !== typed) return;
    const word = begun[1].toLowerCase();
    const fitting = (this.#known ?? []).filter(({ name, arguments: more }) => (isWhole ? name === word && more : name.startsWith(word)));
    if (isWhole) return fitting.length ? this.#argument(fitting[0], typed) : this.hide();
    this.#show(fitting.slice(0, MOST).map((command) => this.#command(command)));
  }

  // Handles a key while the list is open; returns false if the key means something else.
  key(event) {
    const rows = [...list.querySelectorAll("button")];
    if (!rows.length) return false;
    if (event.key === "Escape") return this.hide(), true;
    if (event.key === "Tab" && !event.shiftKey) return rows[Math.max(0, this.#chosen)].click(), true;
    if (event.key === "Enter" && !event.shiftKey && this.#chosen >= 0) return rows[this.#chosen].click(), true;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return false;
    this.#choose((this.#chosen + step + rows.length + (this.#chosen < 0 && step < 0 ? 1 : 0)) % rows.length);
    return true;
  }

  hide() {
    clearTimeout(this.#asking);
    this.#asked = "";
    this.#show([]);
  }

  #show(rows) {
    list.replaceChildren(...rows);
    [...list.querySelectorAll("button")].forEach((row, at) => (row.id = `choice-${at}`));
    this.#chosen = -1;
    text.removeAttribute("aria-activedescendant");
  }

  #choose(at) {
    const rows = [...list.querySelectorAll("button")];
    rows.forEach((row, each) => (row.ariaSelected = String(each === at)));
    rows[at].scrollIntoView({ block: "nearest" });
    text.setAttribute("aria-activedescendant", rows[at].id);
    this.#chosen = at;
  }

  #parts({ name, description, usage, arguments: more }) {
    const label = element("b", { textContent: `/${name}` });
    return [label, ` ${usage[language] ?? more} `, element("span", { textContent: description[language] })];
  }

  #command(command) {
    const line = `/${command.name}${command.arguments ? " " : ""}`;
    return this.#row(line, this.#parts(command), Boolean(command.arguments));
  }

  // Shows how to write the arguments, and values for the one at the end of the line.
  #argument(command, typed) {
    const said = typed.slice(command.name.length + 2);
    const parts = said.split(" ");
    const last = parts.pop();
    const option = command.options[Math.min(parts.filter(Boolean).length, command.options.length - 1)];
    const hint = element("li", { className: "hint", role: "presentation" }, ...this.#parts(command));
    const before = `/${command.name} ${parts.join(" ")}${parts.length ? " " : ""}`;
    const words = [...(option?.choices ?? []), ...(option?.proposals ?? [])].filter((word) => word.startsWith(last));
    const rows = words.slice(0, MOST).map((word) => this.#row(before + word, [element("b", { textContent: word })], false));
    this.#show([hint, ...rows]);
    clearTimeout(this.#asking);
    if (!option || option.choices.length) return;
    this.#asking = setTimeout(() => this.#suggest(command, option, last, parts, typed), ASK_MS);
  }

  async #suggest(command, option, last, parts, typed) {
    const body = { conversation: this.#room.name, command: command.name, option: option.name, text: last, before: parts.join(" ") };
    const answer = await post("/api/suggestions", body).catch(() => null);
    if (!answer?.ok || this.#asked !== typed) return;
    const before = `/${command.name} ${parts.join(" ")}${parts.length ? " " : ""}`;
    const found = (await answer.json()).slice(0, MOST);
    const rows = found.map(({ value, label }) => this.#row(before + value, [element("b", { textContent: label })], false));
    if (rows.length) this.#show([...list.children, ...rows]);
  }

  #row(line, parts, goesOn) {
    const row = element("button", { type: "button", tabIndex: -1, role: "option", ariaSelected: "false" }, ...parts);
    row.onclick = () => {
      this.hide();
      this.#take(line);
      if (goesOn) this.follow(line);
    };
    return element("li", { role: "presentation" }, row);
  }
}
