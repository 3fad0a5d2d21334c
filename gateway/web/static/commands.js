// Completion of commands: shown above the input after a "/", accepted by a click or Tab.

import { chinese, element } from "./words.js";

const MOST = 8;
const list = document.getElementById("commands");
const language = chinese ? "zh" : "en";

export class Commands {
  #known = null;
  #take;

  constructor(take) {
    this.#take = take;
  }

  // Updates the list after the input has changed: the commands that begin so, or how to write the arguments of one.
  async follow(typed) {
    const begun = /^\/([a-z-]*)( ?)/i.exec(typed);
    const isWhole = begun?.[2] === " ";
    if (!begun || (!isWhole && begun[0] !== typed)) return this.hide();
    this.#known ??= await this.#ask();
    const word = begun[1].toLowerCase();
    const fitting = (this.#known ?? []).filter(({ name, arguments: more }) => (isWhole ? name === word && more : name.startsWith(word)));
    list.replaceChildren(...fitting.slice(0, MOST).map((command) => (isWhole ? this.#hint(command) : this.#row(command))));
  }

  // Accepts the first command; returns false if there is none.
  takeFirst() {
    const first = list.querySelector("button");
    first?.click();
    return Boolean(first);
  }

  hide() {
    list.replaceChildren();
  }

  #parts({ name, description, usage, arguments: more }) {
    const label = element("b", { textContent: `/${name}` });
    return [label, ` ${usage[language] ?? more} `, element("span", { textContent: description[language] })];
  }

  #hint(command) {
    return element("li", {}, ...this.#parts(command));
  }

  #row(command) {
    const { name, arguments: more } = command;
    const row = element("button", { type: "button", tabIndex: -1 }, ...this.#parts(command));
    row.onclick = () => {
      const line = `/${name}${more ? " " : ""}`;
      this.hide();
      this.#take(line);
      if (more) this.follow(line);
    };
    return element("li", {}, row);
  }

  async #ask() {
    const answer = await fetch("/api/commands").catch(() => null);
    return answer?.ok ? answer.json() : null;
  }
}
