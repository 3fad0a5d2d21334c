// Messages that the server has not confirmed. They are posted in order, survive a reload and are never duplicated.

import { words } from "./words.js";
import { post } from "./net.js";

const KEPT_AS = "parley.outbox";
const AGAIN_MS = 3_000; // delay after a failed post

export class Outbox {
  #waiting = JSON.parse(sessionStorage.getItem(KEPT_AS) ?? "[]"); // { id, conversation, text, files, at, refused }
  #busy = false;
  #later = 0;
  #log;
  #onRefused;

  constructor(log, onRefused) {
    this.#log = log;
    this.#onRefused = onRefused;
  }

  add(conversation, text, files) {
    this.#waiting.push({ id: crypto.randomUUID(), conversation, text, files, at: Date.now() / 1000, refused: "" });
    this.#keep();
    this.show(conversation);
    return this.pump();
  }

  // Shows the waiting messages of the conversation whose log was drawn.
  show(conversation) {
    for (const said of this.#waiting.filter((each) => each.conversation === conversation)) {
      if (!this.#log.has(said.id)) this.#log.put(asMessage(said));
      if (said.refused) this.#ask(said, said.refused);
      else this.#log.state(said.id, words.sending);
    }
  }

  has(id) {
    return this.#waiting.some((said) => said.id === id);
  }

  // Removes a message that the server has.
  confirm(id) {
    this.#waiting = this.#waiting.filter((said) => said.id !== id);
    this.#keep();
    this.#log.state(id, "");
  }

  // Posts the waiting messages, oldest first. A lost connection stops it; a refused message does not block the others.
  async pump() {
    if (this.#busy) return;
    this.#busy = true;
    clearTimeout(this.#later);
    for (let said; (said = this.#waiting.find((each) => !each.refused)); ) {
      if (!(await this.#post(said))) break;
    }
    this.#busy = false;
  }

  async #post(said) {
    this.#log.state(said.id, words.sending);
    const { id, conversation, text, files } = said;
    let answer;
    try {
      answer = await post("/api/messages", { id, conversation, text, files: files.map((file) => file.reference) });
    } catch {
      return this.#wait(said);
    }
    if (answer.status === 403) {
      this.#onRefused();
      return this.#ask(said, words.failed);
    }
    if (answer.status >= 500) return this.#wait(said);
    if (!answer.ok) {
      said.refused = `${words.failed}: ${(await answer.text()).slice(0, 200)}`;
      this.#keep();
      this.#ask(said, said.refused);
      return true;
    }
    this.confirm(said.id);
    return true;
  }

  // Tries again by itself, as the event stream notices a lost connection late, if ever.
  #wait(said) {
    this.#later = setTimeout(() => this.pump(), AGAIN_MS);
    return this.#ask(said, words.waits);
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
  return { id, who: "person", at, revision: 0, html: text ? typed.outerHTML : "", reasoning: "", buttons: [], attachments };
}
