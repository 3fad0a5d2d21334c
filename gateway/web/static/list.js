// The list of conversations: pinned ones first, then those used last. All tabs are told of each change.

import { words, element } from "./words.js";
import { afterPress } from "./press.js";
import { post, read, withTicket } from "./net.js";

const UNDO_MS = 10_000;
const SEARCH_MS = 200;
const by = (id) => document.getElementById(id);

export class List {
  onloaded = () => {};
  #entries = new Map(); // id -> { id, title, at, pinned, unread }
  #more = "";
  #current = "";
  #on;
  #searching = 0;
  #undo = 0;
  #changes = 0;
  #naming = false; // drawing would take away what is being typed

  // on: open(id), begin(), gone(id)
  constructor(on) {
    this.#on = on;
    by("more").onclick = () => this.#next();
    by("search").addEventListener("input", () => {
      clearTimeout(this.#searching);
      this.#searching = setTimeout(() => this.#search(), SEARCH_MS);
    });
    by("search").addEventListener("keydown", (event) => event.key === "Escape" && this.#endSearch());
    const reach = new IntersectionObserver((seen) => seen.some((each) => each.isIntersecting) && this.#next(), { root: by("listed") });
    reach.observe(by("more"));
  }

  // Reads the list anew. What changed meanwhile may be missing in the answer, so it is asked for again.
  async load(tries = 3) {
    const changes = this.#changes;
    const page = await read("/api/conversations");
    if (!page) return;
    if (changes !== this.#changes && tries) return this.load(tries - 1);
    this.#entries = new Map(page.conversations.map((each) => [each.id, each]));
    this.#more = page.more;
    if (this.isUnread(this.#current) && !document.hidden) this.see(this.#current);
    this.#draw();
    this.onloaded();
  }

  async #next() {
    if (!this.#more || by("search").value) return;
    const after = this.#more;
    this.#more = "";
    const page = await read("/api/conversations", { after });
    if (!page) return void (this.#more = after);
    for (const each of page.conversations) if (!this.#entries.has(each.id)) this.#entries.set(each.id, each);
    this.#more = page.more;
    this.#draw();
  }

  title(id) {
    return this.#entries.get(id)?.title ?? "";
  }

  isUnread(id) {
    return this.#entries.get(id)?.unread ?? false;
  }

  mark(id) {
    this.#current = id;
    if (this.isUnread(id)) this.see(id);
    this.#draw();
  }

  see(id) {
    const entry = this.#entries.get(id);
    if (entry) entry.unread = false;
    return post("/api/conversations", { conversation: id, seen: true }).catch(() => null);
  }

  // Applies a change that another tab or Parley has made.
  apply({ conversation, at, words: said, title, pinned, unread, deleted }) {
    this.#changes += 1;
    if (deleted) return this.#remove(conversation);
    if (deleted === false) return void this.load();
    const known = this.#entries.get(conversation);
    if (!known && at === undefined) return;
    const entry = known ?? { id: conversation, title: "", at, pinned: false, unread: false };
    if (said && !entry.title) entry.title = said;
    const changes = { at, title, pinned, unread };
    for (const [name, value] of Object.entries(changes)) if (value !== undefined) entry[name] = value;
    if (unread && conversation === this.#current && !document.hidden) entry.unread = false;
    this.#entries.set(conversation, entry);
    this.#draw();
  }

  #remove(id) {
    if (!this.#entries.delete(id)) return;
    this.#draw();
    this.#on.gone(id);
  }

  #draw() {
    afterPress("list", () => this.#redraw());
  }

  #redraw() {
    if (by("search").value || this.#naming) return;
    const sorted = [...this.#entries.values()].sort((a, b) => b.pinned - a.pinned || b.at - a.at);
    const shown = new Map([...by("rows").children].map((row) => [row.dataset.id, row]));
    const rows = sorted.map((entry) => {
      const key = JSON.stringify([entry, entry.id === this.#current]);
      const old = shown.get(entry.id);
      return old?.dataset.key === key ? old : this.#row(entry, key);
    });
    const had = document.activeElement?.closest?.("#rows li")?.dataset.id;
    const link = document.activeElement?.matches?.("a");
    by("rows").replaceChildren(...rows);
    if (had && !by("rows").contains(document.activeElement)) by("rows").querySelector(`[data-id="${had}"] ${link ? "a" : "button"}`)?.focus();
    by("more").hidden = !this.#more;
    by("nothing").hidden = true;
  }

  #row(entry, key) {
    const name = entry.title || words.fresh;
    const link = element("a", { href: `#${entry.id}`, textContent: name, dir: "auto", title: name });
    link.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab
      event.preventDefault();
      this.#on.open(entry.id);
    };
    if (entry.id === this.#current) link.ariaCurrent = "page";
    const more = element("button", { type: "button", className: "bare dots3", textContent: "⋯", ariaLabel: words.options(name), ariaHasPopup: "menu" });
    more.onclick = () => this.#menu(entry, more);
    const row = element("li", {}, ...this.#marks(entry), link, more);
    Object.assign(row.dataset, { id: entry.id, key });
    row.classList.toggle("unread", entry.unread);
    return row;
  }

  #marks(entry) {
    const pinned = element("span", { className: "pin", textContent: "📌", title: words.pinned });
    const unread = element("span", { className: "unseen", textContent: words.unread });
    return [...(entry.pinned ? [pinned] : []), ...(entry.unread ? [unread] : [])];
  }

  #menu(entry, anchor) {
    const acts = [
      [words.rename, () => this.#rename(entry)],
      [entry.pinned ? words.unpin : words.pin, () => this.#change(entry, { pinned: !entry.pinned })],
      [words.export, () => this.#export(entry)],
      [words.delete, () => this.#delete(entry)],
    ];
    const menu = by("menu");
    const buttons = acts.map(([label, act]) => {
      const button = element("button", { type: "button", role: "menuitem", textContent: label });
      button.onclick = () => (menu.hidePopover(), act());
      return button;
    });
    menu.replaceChildren(...buttons);
    menu.onkeydown = (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length].focus();
    };
    menu.ontoggle = (event) => event.newState === "closed" && document.activeElement === document.body && anchor.focus();
    menu.showPopover();
    const place = anchor.getBoundingClientRect();
    menu.style.left = `${Math.max(8, Math.min(place.left, innerWidth - menu.offsetWidth - 8))}px`;
    menu.style.top = `${Math.min(place.bottom + 4, innerHeight - menu.offsetHeight - 8)}px`;
    buttons[0].focus();
  }

  #rename(entry) {
    const row = by("rows").querySelector(`[data-id="${entry.id}"]`);
    const box = element("input", { value: entry.title, maxLength: 200, ariaLabel: words.rename, dir: "auto" });
    const redraw = () => (by("search").value ? this.#search() : this.#draw());
    const end = (keep) => {
      if (!this.#naming) return;
      this.#naming = false;
      const title = box.value;
      row.dataset.key = "";
      box.remove();
      redraw();
      if (keep && title !== entry.title) this.#change(entry, { title }).then(redraw);
    };
    box.onblur = () => end(true);
    box.onkeydown = (event) => {
      if (event.isComposing) return;
      if (event.key === "Enter") end(true);
      if (event.key === "Escape") end(false);
    };
    this.#naming = true;
    row.querySelector("a").replaceWith(box);
    box.focus();
    box.select();
  }

  async #change(entry, change) {
    const answer = await post("/api/conversations", { conversation: entry.id, ...change }).catch(() => null);
    if (answer?.ok) this.apply({ conversation: entry.id, ...(await answer.json()) });
    else this.#toast(words.press_failed);
    return Boolean(answer?.ok);
  }

  #export(entry) {
    element("a", { href: withTicket(`/api/conversations/export?conversation=${entry.id}`), download: "" }).click();
  }

  async #delete(entry) {
    if (!(await this.#change(entry, { deleted: true }))) return;
    this.#toast(words.deleted(entry.title || words.fresh), words.undo, async () => {
      await this.#change(entry, { deleted: false });
      this.#on.open(entry.id);
    });
  }

  #toast(text, label, act) {
    const toast = by("toast");
    const button = element("button", { type: "button", textContent: label ?? "" });
    const hide = () => (toast.hidden = true);
    button.onclick = () => (hide(), act());
    toast.replaceChildren(element("span", { textContent: text }), ...(label ? [button] : []));
    toast.hidden = false;
    clearTimeout(this.#undo);
    this.#undo = setTimeout(hide, UNDO_MS);
  }

  async #search() {
    const sought = by("search").value.trim();
    if (!sought) return this.#draw();
    const answer = await read("/api/conversations/search", { words: sought });
    if (by("search").value.trim() !== sought) return;
    const found = answer?.found ?? [];
    afterPress("list", () => this.#naming || this.#showFound(sought, found)); // it is sought again once the name is there
  }

  #showFound(sought, found) {
    by("rows").replaceChildren(...found.map((entry) => this.#hit(entry)));
    by("more").hidden = true;
    by("nothing").hidden = found.length > 0;
    by("nothing").textContent = words.nothing(sought);
  }

  #hit(entry) {
    const row = this.#row(entry, "");
    if (entry.words) row.querySelector("a").append(element("small", { textContent: entry.words }));
    return row;
  }

  #endSearch() {
    by("search").value = "";
    this.#draw();
  }
}
