// Files attached to the next message. Each is uploaded immediately, in a request of its own, with its progress shown.

import { words, element } from "./words.js";
import { inWords } from "./log.js";
import { headers } from "./net.js";

const MOST = 20;
const list = document.getElementById("files");

export class Files {
  #files = []; // { file, node, note, reference, failed }
  #notice;

  constructor(notice) {
    this.#notice = notice;
  }

  add(picked) {
    for (const file of picked) {
      if (this.#files.length === MOST) return this.#notice(words.too_many(MOST));
      this.#upload(this.#show(file));
    }
  }

  // Returns why the files cannot be sent yet; empty if they can.
  get obstacle() {
    if (this.#files.some((each) => each.failed)) return words.broken_files;
    return this.#files.every((each) => each.reference) ? "" : words.wait_files;
  }

  // Returns the uploaded files for one message and clears the list.
  take() {
    const taken = this.#files.map(({ reference, file }) => ({ reference, name: file.name, size: file.size, type: file.type }));
    this.#files = [];
    list.replaceChildren();
    return taken;
  }

  #show(file) {
    const note = element("span", { className: "note" });
    const bar = element("progress", { max: 1, value: 0, ariaLabel: file.name });
    const again = element("button", { type: "button", textContent: words.retry, hidden: true });
    const gone = element("button", { type: "button", textContent: "×", ariaLabel: words.remove(file.name) });
    const node = element("li", {}, ...preview(file), element("bdi", { className: "name", textContent: file.name, title: file.name }), note, bar, again, gone);
    const one = { file, node, note, bar, again, reference: null, failed: false, request: null };
    again.onclick = () => this.#upload(one);
    gone.onclick = () => {
      one.request?.abort();
      this.#files = this.#files.filter((each) => each !== one);
      node.remove();
    };
    this.#files.push(one);
    list.append(node);
    return one;
  }

  #upload(one) {
    one.failed = false;
    one.again.hidden = true;
    one.bar.hidden = false;
    const form = new FormData();
    form.append("file", one.file, one.file.name);
    const request = (one.request = new XMLHttpRequest()); // fetch does not report upload progress
    request.upload.onprogress = (event) => {
      one.bar.value = event.loaded / event.total;
      one.note.textContent = words.uploading(Math.round((100 * event.loaded) / event.total));
    };
    request.onload = () => {
      if (request.status !== 200) return this.#fail(one, request.responseText.slice(0, 200));
      one.reference = JSON.parse(request.responseText).files[0].reference;
      one.note.textContent = inWords(one.file.size);
      one.bar.hidden = true;
    };
    request.onerror = () => this.#fail(one, words.upload_failed);
    request.open("POST", "/api/files");
    for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
    request.send(form);
  }

  #fail(one, reason) {
    one.failed = true;
    one.note.textContent = reason;
    one.bar.hidden = true;
    one.again.hidden = false;
  }
}

// A small picture of a file that is one.
function preview(file) {
  if (!["image/png", "image/jpeg", "image/gif", "image/webp"].includes(file.type)) return [];
  const image = element("img", { src: URL.createObjectURL(file), alt: "" });
  image.onload = () => URL.revokeObjectURL(image.src);
  return [image];
}
