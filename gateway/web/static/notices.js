// Notifications of questions and reports in the conversations of the page, while it is not looked at.

import { words } from "./words.js";
import { notify } from "./notify.js";

const button = document.getElementById("notify");

export class Notices {
  constructor(open) {
    navigator.serviceWorker?.addEventListener("message", (event) => open(event.data.open));
    if (!("Notification" in window)) return;
    button.hidden = Notification.permission !== "default";
    button.onclick = async () => (button.hidden = (await Notification.requestPermission()) !== "default");
  }

  // Shows a notification of a new message of Parley, if it is not on the screen.
  hear({ conversation, notice }, title) {
    if (notice && document.hidden) notify(title || words.parley, { body: notice, tag: conversation, data: conversation });
  }
}
