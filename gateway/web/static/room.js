// The open conversation: its messages, page by page, and the events that change them.

import { ask, withTicket } from "./net.js";

const TYPING_SECONDS = 6;
const NEAR = 600; // pixels from the top at which earlier messages are loaded
const by = (id) => document.getElementById(id);

export class Room {
  name = "";
  place = ""; // id of a message that is shown once, though it may be an old one
  #parts;
  #source = null;
  #before = ""; // where the messages before the first one begin
  #loading = false;
  #typing = 0;
  #again = 0;

  // parts: log, outbox, view, and what to call when connected, lost, refused, and on changes of the list
  constructor(parts) {
    this.#parts = parts;
    by("scroller").addEventListener("scroll", () => by("scroller").scrollTop < NEAR && this.#earlier(), { passive: true });
  }

  open(name) {
    this.name = name;
    this.close();
    this.#parts.log.clear();
    this.#before = "";
    by("typing").hidden = true;
    by("welcome").hidden = true;
    this.#start();
  }

  close() {
    clearTimeout(this.#again);
    this.#source?.close();
    this.#source = null;
  }

  async #start() {
    const name = this.name;
    const later = () => {
      if (name !== this.name) return;
      this.#parts.lost();
      this.#again = setTimeout(() => this.#start(), 1500);
    };
    try {
      const answer = await ask(`/api/history?conversation=${name}`);
      if (name !== this.name) return;
      if (answer.status === 403) return this.#parts.refused();
      if (!answer.ok) return later();
      const { messages, before, last } = await answer.json();
      if (name !== this.name) return;
      this.#before = before;
      this.#following(() => this.#drawAll(messages));
      this.#listen(last);
      await this.#toPlace();
    } catch {
      later();
    }
  }

  async #toPlace() {
    const wanted = this.place;
    this.place = "";
    if (!wanted) return;
    for (let before = null; before !== this.#before && !this.#parts.log.node(wanted); ) {
      before = this.#before; // it stays if there is nothing earlier, or if that cannot be had
      await this.#earlier();
    }
    const node = this.#parts.log.node(wanted);
    if (node) this.#parts.view.to(node);
  }

  #drawAll(messages) {
    const { log, outbox } = this.#parts;
    const known = new Set(messages.map((message) => message.id));
    for (const id of log.ids()) if (!known.has(id) && !outbox.has(id)) log.remove(id);
    for (const message of messages) this.#show(message);
    outbox.show(this.name);
  }

  #listen(last) {
    this.#source?.close();
    const source = (this.#source = new EventSource(withTicket(`/api/events?conversation=${this.name}&after=${encodeURIComponent(last)}`)));
    source.onopen = () => this.#parts.connected();
    source.onmessage = (event) => this.#following(() => this.#apply(JSON.parse(event.data)));
    source.onerror = () => {
      this.#parts.lost();
      if (source.readyState === EventSource.CLOSED) this.#again = setTimeout(() => this.#start(), 1500);
    };
  }

  #apply(event) {
    const { log } = this.#parts;
    try {
      if (event.type === "listed") return this.#parts.listed(event);
      if (event.type === "message") this.#show(event);
      else if (event.type === "edit") log.edit(event);
      else if (event.type === "delete") log.remove(event.id);
      else if (event.type === "typing") return this.#showTyping(event.at);
      else throw new RangeError("events were missed");
      if (event.who !== "person") by("typing").hidden = true;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.close(); // the delta does not fit the page: reload everything
      this.#start();
    }
  }

  #show(message) {
    if (message.who === "person") this.#parts.outbox.confirm(message.id);
    this.#parts.log.put(message);
  }

  async #earlier() {
    if (!this.#before || this.#loading) return;
    this.#loading = true;
    by("earlier").hidden = false;
    const query = new URLSearchParams({ conversation: this.name, before: this.#before });
    const name = this.name;
    const answer = await ask(`/api/history?${query}`).catch(() => null);
    if (answer?.ok && name === this.name) {
      const { messages, before } = await answer.json();
      this.#before = before;
      this.#parts.view.staying(() => {
        by("earlier").hidden = true;
        this.#parts.log.prepend(messages);
      });
    }
    by("earlier").hidden = true;
    this.#loading = false;
  }

  #showTyping(at) {
    const left = TYPING_SECONDS - (Date.now() / 1000 - at);
    if (left <= 0 || document.querySelector(".live")) return; // the progress message shows more
    by("typing").hidden = false;
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => (by("typing").hidden = true), left * 1000);
  }

  #following(change) {
    this.#parts.view.following(() => {
      change();
      by("welcome").hidden = !this.#parts.log.empty;
    });
  }
}
