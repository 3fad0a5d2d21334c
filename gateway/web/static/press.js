// Puts off changes while somebody presses: a click counts only if what it began on is still there when it ends.

let pressed = false;
const waiting = new Map(); // name -> the change

export const isPressed = () => pressed;

// Makes a change now, or once nothing is pressed. Of those with one name only the last one is made.
export function afterPress(name, change) {
  if (pressed) waiting.set(name, change);
  else change();
}

function begin() {
  pressed = true;
}

// A click comes right after the end of its press.
function end() {
  if (pressed) setTimeout(release);
}

function release() {
  pressed = false;
  const changes = [...waiting.values()];
  waiting.clear();
  for (const change of changes) change();
}

addEventListener("pointerdown", ({ button, isPrimary }) => isPrimary && button === 0 && begin(), true);
addEventListener("keydown", ({ key }) => key === " " && begin(), true); // a button is pressed as long as the key is
for (const kind of ["pointerup", "pointercancel", "keyup"]) addEventListener(kind, end, true);
addEventListener("blur", end); // of the window
// A list of choices that is unfolded swallows the end of the press that unfolded it.
addEventListener("change", ({ target }) => target.matches("select") && end(), true);
addEventListener("pointermove", ({ buttons }) => buttons === 0 && end(), true);
