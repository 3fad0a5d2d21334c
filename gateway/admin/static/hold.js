// Holds what would replace a part of the page while somebody presses on it: an answer is shown after that, and new content
// is asked for again.

import { afterPress, isPressed } from "/press.js";

function hold(event) {
  const { target, shouldSwap, serverResponse, requestConfig } = event.detail;
  if (!shouldSwap || !isPressed()) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const { elt: asking, triggeringEvent: cause } = requestConfig;
  if (target.id === "answer") afterPress(asking, () => window.htmx.swap(target, serverResponse, { swapStyle: "innerHTML" }));
  else if (cause) afterPress(asking, () => window.htmx.trigger(asking, cause.type)); // the rest comes anew every second
}

addEventListener("htmx:beforeSwap", hold, true);
