// Notifications of questions and reports while the page is not looked at, and the worker that makes it installable.

import { words } from "./words.js";

const button = document.getElementById("notify");

export class Notices {
  #open;
  #worker;

  constructor(open) {
    this.#open = open;
    this.#worker = navigator.serviceWorker?.register("/worker.js").catch(() => null); // private windows refuse it
    navigator.serviceWorker?.addEventListener("message", (event) => open(event.data.open));
    if (!("Notification" in window)) return;
    button.hidden = Notification.permission !== "default";
    button.onclick = async () => (button.hidden = (await Notification.requestPermission()) !== "default");
  }

  // Shows a notification of a new message of Parley, if it is not on the screen. Phones show those of a worker only.
  async hear({ conversation, notice }, title) {
    if (!notice || !document.hidden || !("Notification" in window) || Notification.permission !== "granted") return;
    const about = { body: notice, tag: conversation, icon: "/icon.svg", data: conversation };
    const worker = await this.#worker;
    if (worker?.active) return worker.showNotification(title || words.parley, about);
    const shown = new Notification(title || words.parley, about);
    shown.onclick = () => {
      focus();
      this.#open(conversation);
      shown.close();
    };
  }
}
