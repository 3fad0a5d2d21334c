// Finds screens, settings, people, conversations and commands: a box over the page, opened by Ctrl-K or by the buttons with
// `data-palette`. The server finds; arrows choose, Enter opens.

import { read } from "./net.js";

const ADDRESS = "/admin/api/find";
const FRAME =
  '<input type="search" role="combobox" aria-expanded="true" aria-controls="found" aria-autocomplete="list" autocomplete="off" maxlength="100" enterkeyhint="go"><ul id="found" role="listbox"></ul><p role="status"></p>';

const dialog = document.createElement("dialog");
dialog.id = "palette";
dialog.innerHTML = FRAME;
const [input, list, status] = dialog.children;
let asked = 0; // number of the last question: answers to earlier ones come too late

function choose(option) {
  for (const each of list.children) each.ariaSelected = String(each === option);
  input.setAttribute("aria-activedescendant", option?.id ?? "");
  option?.scrollIntoView({ block: "nearest" });
}

const chosen = () => list.querySelector("[aria-selected=true]");

function row({ kind, title, about, link }, index) {
  const option = document.createElement("li");
  option.id = `found-${index}`;
  option.role = "option";
  option.dataset.link = link;
  for (const [name, text] of Object.entries({ title, about, kind })) {
    const part = document.createElement("span");
    part.className = name;
    part.textContent = text;
    part.title = text;
    option.append(part, " ");
  }
  return option;
}

async function find() {
  const number = (asked += 1);
  const told = await read(ADDRESS, { q: input.value });
  if (!told || number !== asked) return;
  input.placeholder = input.ariaLabel = list.ariaLabel = told.label;
  list.replaceChildren(...told.found.map(row));
  status.textContent = told.status;
  choose(list.firstElementChild);
}

function go(option) {
  if (!option) return;
  dialog.close();
  location.assign(option.dataset.link);
}

function open() {
  if (dialog.open) return dialog.close();
  input.value = "";
  dialog.showModal();
  find();
}

input.addEventListener("input", find);
input.addEventListener("keydown", (event) => {
  const options = [...list.children];
  const place = options.indexOf(chosen());
  const moves = { ArrowDown: place + 1, ArrowUp: place - 1 + options.length };
  if (event.key === "Enter") go(chosen());
  else if (event.key in moves) choose(options[moves[event.key] % options.length]);
  else return;
  event.preventDefault();
});
list.addEventListener("click", (event) => go(event.target.closest("[role=option]")));
dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
  event.preventDefault();
  open();
});
document.addEventListener("click", (event) => event.target.closest("[data-palette]") && open());
document.body.append(dialog);
