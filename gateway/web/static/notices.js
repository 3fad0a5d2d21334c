// Notifications of questions and reports while the page is not looked at, and the worker that makes it installable.

import { words } from "./words.js";

const button = document.getElementById("notify");

export class Notices {
  #open;

  constructor(open) {
    this.#open = open;
    navigator.serviceWorker?.register("/worker.js").catch(() => null); // private windows refuse it
    if (!("Notification" in window)) return;
    button.hidden = Notification.permission !== "default";
    button.onclick = async () => (button.hidden = (await Notification.requestPermission()) !== "default");
  }

  // Shows a notification of a new message of Parley, if it is not on the screen.
  hear({ conversation, notice }, title) {
    if (!notice || !document.hidden || !("Notification" in window) || Notification.permission !== "granted") return;
    const shown = new Notification(title || words.parley, { body: notice, tag: conversation, icon: "/icon.svg" });
    shown.onclick = () => {
      focus();
      this.#open(conversation);
      shown.close();
    };
  }
}
