// Writing: the box with its drafts, edits of earlier messages, completion of commands, and files.

import { words } from "./words.js";
import { Files } from "./files.js";
import { Commands } from "./commands.js";
import { post } from "./net.js";

const DRAFT = "parley.draft.";
const LONG_PASTE = 50_000; // characters; more become a file
const by = (id) => document.getElementById(id);
const text = by("text");

export class Composer {
  #parts;
  #files;
  #commands;
  #edited = ""; // id of the message that is being edited
  #early = text.value; // written before this script was there

  // parts: room, outbox, log, view, say, asked
  constructor(parts) {
    this.#parts = parts;
    this.#files = new Files(parts.say);
    this.#commands = new Commands((line) => this.write(line), parts.room);
    text.addEventListener("input", () => (this.#grow(), this.#commands.follow(text.value)));
    text.addEventListener("keydown", (event) => this.#key(event));
    by("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
      text.focus();
    });
    by("keep").onclick = () => this.#endEdit();
    this.#takeFiles();
  }

  focus() {
    text.focus();
  }

  write(line) {
    text.value = line;
    this.#grow();
    text.focus();
  }

  // Shows the draft of the conversation that was opened.
  enter() {
    this.#parts.say("");
    text.value = this.#early || (sessionStorage.getItem(DRAFT + this.#parts.room.name) ?? "");
    this.#early = "";
    this.#commands.hide();
    this.#grow();
  }

  leave() {
    this.#endEdit();
  }

  // Puts a message into the box, to be sent again with other words.
  edit(id, words) {
    this.#edited = id;
    by("editing").hidden = false;
    this.write(words);
    text.setSelectionRange(words.length, words.length);
  }

  #endEdit() {
    if (!this.#edited) return;
    this.#edited = "";
    by("editing").hidden = true;
    this.write("");
  }

  #grow() {
    text.style.height = "auto";
    text.style.height = `${text.scrollHeight}px`;
    if (this.#edited) return;
    const key = DRAFT + this.#parts.room.name;
    if (text.value) sessionStorage.setItem(key, text.value);
    else sessionStorage.removeItem(key);
  }

  #key(event) {
    if (event.isComposing) return;
    if (this.#commands.key(event)) return event.preventDefault();
    if (event.key === "Escape") return this.#endEdit();
    if (event.key === "ArrowUp" && !text.value) return this.#editLast(event);
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    this.#submit();
  }

  #editLast(event) {
    const last = this.#parts.log.lastSaid();
    if (!last) return;
    event.preventDefault();
    this.edit(last.id, last.text);
  }

  async #submit() {
    const { say, outbox, view, room, asked } = this.#parts;
    if (this.#edited) return this.#sendEdit();
    const obstacle = this.#files.obstacle;
    say(obstacle);
    if (obstacle) return;
    const written = text.value.trim();
    const attached = this.#files.take();
    if (!written && !attached.length) return;
    text.value = "";
    this.#commands.hide();
    this.#grow();
    view.following(() => {
      by("welcome").hidden = true;
      const posted = outbox.add(room.name, written, attached);
      if (written.startsWith("/")) posted.then(asked);
    });
    view.toEnd();
  }

  async #sendEdit() {
    const { say, room } = this.#parts;
    const changed = text.value.trim();
    if (!changed) return say(words.empty_edit);
    say("");
    const body = { id: crypto.randomUUID(), conversation: room.name, instead_of: this.#edited, text: changed };
    const answer = await post("/api/messages", body).catch(() => null);
    if (answer?.ok) this.#endEdit();
    else say(answer ? (await answer.text()).slice(0, 200) : words.press_failed);
  }

  #takeFiles() {
    const files = this.#files;
    by("attach").onclick = () => by("pick").click();
    by("pick").onchange = (event) => {
      files.add(event.target.files);
      event.target.value = "";
    };
    text.addEventListener("paste", (event) => this.#paste(event));
    const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
    addEventListener("dragover", (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      by("drop").hidden = false;
    });
    addEventListener("dragleave", (event) => {
      if (!event.relatedTarget) by("drop").hidden = true;
    });
    addEventListener("drop", (event) => {
      by("drop").hidden = true;
      if (!carriesFiles(event)) return;
      event.preventDefault();
      files.add(event.dataTransfer.files);
    });
  }

  // Files are attached, and so is a text that is too long to be read in the box.
  #paste(event) {
    const { files } = event.clipboardData;
    const pasted = event.clipboardData.getData("text/plain");
    if (!files.length && pasted.length <= LONG_PASTE) return;
    event.preventDefault();
    if (files.length) return this.#files.add(files);
    this.#files.add([new File([pasted], "pasted.txt", { type: "text/plain" })]);
    this.#parts.say(words.long_paste);
  }
}
