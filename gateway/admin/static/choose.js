// Lets people choose rows, one by one or all that are shown. The bar that acts on them counts them, and has its buttons while
// there are any; it is there where there are two rows to choose from.

const bars = () => document.querySelectorAll("#content .chosen");
const rows = (bar) => [...document.querySelectorAll(`#content input[name="row"][form="${bar.id}"]`)];
const shown = (bar) => rows(bar).filter((row) => row.checkVisibility());

function set(element, name, value) {
  if (element[name] !== value) element[name] = value; // it is watched
}

function count(bar) {
  const chosen = rows(bar).filter((row) => row.checked).length;
  const all = bar.querySelector("[data-all]");
  const words = bar.querySelector("[data-count]");
  set(bar, "hidden", rows(bar).length < 2);
  set(all, "checked", chosen > 0 && shown(bar).every((row) => row.checked));
  set(all, "indeterminate", chosen > 0 && !all.checked);
  set(words, "textContent", chosen ? words.dataset.count.replace("{count}", chosen) : "");
  for (const button of bar.querySelectorAll("button")) set(button, "hidden", chosen === 0);
}

const recount = () => bars().forEach(count);

document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-all]")) for (const row of shown(target.form)) row.checked = target.checked;
  if (target.matches("[data-all], input[name=row]")) recount();
});
new MutationObserver(recount).observe(document.getElementById("main"), { attributeFilter: ["hidden"], childList: true, subtree: true });
recount();
