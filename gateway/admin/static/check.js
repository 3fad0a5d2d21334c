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
  const { trouble } = answer?.ok ? await answer.json() : {};
  if (trouble !== undefined && target.isConnected) tell(target, trouble); // the form was sent meanwhile, and another step is shown
});
