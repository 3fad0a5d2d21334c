// Checks a field of a guide when it is left: the server says what is wrong with it, in a sentence below it.

import { ask } from "/net.js";

function tell(input, trouble) {
  const place = document.getElementById(input.getAttribute("aria-describedby"));
  place.textContent = trouble;
  place.hidden = !trouble;
  input.ariaInvalid = String(Boolean(trouble));
}

document.body.addEventListener("focusout", async ({ target }) => {
  if (!target.matches("input[data-field]") || !target.value) return;
  const { elements, dataset } = target.form;
  const body = new URLSearchParams({ number: elements.number.value, field: target.dataset.field, text: target.value });
  const answer = await ask(dataset.check, { method: "POST", body }).catch(() => null);
  if (answer?.ok && target.isConnected) tell(target, (await answer.json()).trouble);
});
