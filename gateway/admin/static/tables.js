// Lets people sort a table by its heads and filter it by words, where all of its rows are on the page. A table of the server's
// pages, with `data-paged`, is sorted there.

const FEWEST = 10; // rows from which on a filter helps

// Both stay while the content is renewed, as does the focus: by path and number of the table.
const orders = new Map(); // how it is sorted
const wanted = new Map(); // the words in its filter
let focus = null; // place of the filter or the head that has it

const rows = (table) => [...(table.tBodies[0]?.rows ?? [])];

function key(cell) {
  const moment = cell.querySelector("time[datetime]");
  if (moment) return Date.parse(moment.dateTime);
  const text = cell.textContent.trim();
  return cell.classList.contains("number") ? Number.parseFloat(text.replace(/[^\d.-]/g, "")) || 0 : text;
}

function sort(table, { column, down }) {
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), document.documentElement.lang, { numeric: true }));
  const sorted = rows(table).sort((a, b) => (down ? -1 : 1) * compare(key(a.cells[column]), key(b.cells[column])));
  table.tBodies[0].append(...sorted);
  [...table.tHead.rows[0].cells].forEach((head, index) => {
    if (index === column) head.ariaSort = down ? "descending" : "ascending";
    else head.removeAttribute("aria-sort");
  });
}

function sortable(table, name) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (!head.textContent.trim() || head.querySelector(".unseen")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    button.addEventListener("click", () => {
      const order = { column, down: head.ariaSort === "ascending" };
      orders.set(name, order);
      sort(table, order);
    });
    button.dataset.place = JSON.stringify([name, column]);
    head.append(button);
  });
  if (orders.has(name)) sort(table, orders.get(name));
}

function filtered(table, name) {
  const label = document.createElement("label");
  label.className = "narrow";
  const input = document.createElement("input");
  input.type = "search";
  input.value = wanted.get(name) ?? "";
  input.dataset.place = JSON.stringify([name, -1]);
  const filter = () => {
    const words = input.value.trim().toLowerCase();
    for (const row of rows(table)) row.hidden = !row.textContent.toLowerCase().includes(words);
  };
  input.addEventListener("input", filter);
  filter();
  label.append(document.body.dataset.filter, input);
  table.before(label);
}

function look() {
  const tables = document.querySelectorAll("#content table:has(> thead)");
  tables.forEach((table, index) => {
    if (table.dataset.paged !== undefined || table.dataset.ready !== undefined || rows(table).some((row) => row.cells.length !== table.tHead.rows[0].cells.length)) return;
    table.dataset.ready = "";
    const name = `${location.pathname} ${index}`;
    if (rows(table).length > 1) sortable(table, name);
    if (rows(table).length >= FEWEST && !document.querySelector("#content input[type=search]")) filtered(table, name);
  });
  if (focus && document.activeElement === document.body) {
    [...document.querySelectorAll("[data-place]")].find(({ dataset }) => dataset.place === focus)?.focus({ preventScroll: true });
  }
  focus = null;
}

document.body.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id !== "content") return;
  focus = document.activeElement.dataset.place ?? null;
  for (const input of document.querySelectorAll(".narrow input")) wanted.set(JSON.parse(input.dataset.place)[0], input.value);
});

document.body.addEventListener("htmx:afterSettle", look);
look();
