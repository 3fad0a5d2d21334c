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

  // Updates the list after the input has changed.
  async follow(typed) {
    const begun = /^\/([a-z-]*)$/i.exec(typed);
    this.#known ??= begun ? await this.#ask() : null;
    const fitting = begun && this.#known ? this.#known.filter(({ name }) => name.startsWith(begun[1].toLowerCase())) : [];
    list.replaceChildren(...fitting.slice(0, MOST).map((command) => this.#row(command)));
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

  #row({ name, description, arguments: more }) {
    const label = element("b", { textContent: `/${name}` });
    const row = element("button", { type: "button", tabIndex: -1 }, label, ` ${more} `, element("span", { textContent: description[language] }));
    row.onclick = () => {
      this.hide();
      this.#take(`/${name}${more ? " " : ""}`);
    };
    return element("li", {}, row);
  }

  async #ask() {
    const answer = await fetch("/api/commands").catch(() => null);
    return answer?.ok ? answer.json() : null;
  }
}
