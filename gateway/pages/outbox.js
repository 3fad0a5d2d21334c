// What the person said and the server has not confirmed: posted in order, kept over a reload, never posted as two.

import { words } from "./words.js";

const KEPT_AS = "parley.outbox";

export class Outbox {
  #waiting = JSON.parse(sessionStorage.getItem(KEPT_AS) ?? "[]"); // { id, text, files, at, refused }
  #busy = false;
  #log;
  #onRefused;

  constructor(log, onRefused) {
    this.#log = log;
    this.#onRefused = onRefused;
  }

  add(text, files) {
    this.#waiting.push({ id: crypto.randomUUID(), text, files, at: Date.now() / 1000, refused: "" });
    this.#keep();
    this.show();
    return this.pump();
  }

  // After the log was drawn anew.
  show() {
    for (const said of this.#waiting) {
      if (!this.#log.has(said.id)) this.#log.put(asMessage(said));
      if (said.refused) this.#ask(said, said.refused);
      else this.#log.state(said.id, words.sending);
    }
  }

  has(id) {
    return this.#waiting.some((said) => said.id === id);
  }

  // The server has it, whoever told.
  confirm(id) {
    this.#waiting = this.#waiting.filter((said) => said.id !== id);
    this.#keep();
    this.#log.state(id, "");
  }

  // Post what waits, oldest first; a dead line stops it, a refused message does not hold up the others.
  async pump() {
    if (this.#busy) return;
    this.#busy = true;
    for (let said; (said = this.#waiting.find((each) => !each.refused)); ) {
      if (!(await this.#post(said))) break;
    }
    this.#busy = false;
  }

  async #post(said) {
    this.#log.state(said.id, words.sending);
    const body = JSON.stringify({ id: said.id, text: said.text, files: said.files.map((file) => file.reference) });
    let answer;
    try {
      answer = await fetch("/api/messages", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    } catch {
      return this.#ask(said, words.failed);
    }
    if (answer.status === 403) this.#onRefused();
    if (answer.status === 403 || answer.status >= 500) return this.#ask(said, words.failed);
    if (!answer.ok) {
      said.refused = `${words.failed}: ${(await answer.text()).slice(0, 200)}`;
      this.#keep();
      this.#ask(said, said.refused);
      return true;
    }
    this.confirm(said.id);
    return true;
  }

  #ask(said, text) {
    const again = () => {
      said.refused = "";
      this.pump();
    };
    const discard = () => {
      this.confirm(said.id);
      this.#log.remove(said.id);
    };
    this.#log.state(said.id, text, [[words.retry, again], [words.discard, discard]]);
    return false;
  }

  #keep() {
    sessionStorage.setItem(KEPT_AS, JSON.stringify(this.#waiting));
  }
}

function asMessage({ id, text, files, at }) {
  const typed = document.createElement("p");
  typed.className = "typed";
  typed.textContent = text;
  const attachments = files.map(({ reference, name, size, type }) => ({
    name,
    size,
    url: `/api/files/${reference}`,
    image: ["image/png", "image/jpeg", "image/gif", "image/webp"].includes(type),
  }));
  return { id, who: "person", at, revision: 0, html: text ? typed.outerHTML : "", buttons: [], attachments };
}
