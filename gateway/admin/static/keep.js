// Keeps what a person has begun when the content of a page is replaced: forms that differ from what the server has sent
// or that are being filled in, unfolded parts, chosen rows, and the focus.

const NO_INPUT = new Set(["hidden", "submit", "button", "reset"]);
const asked = new WeakMap(); // form -> its values in its last request
const sent = new WeakMap(); // form -> its values that the server has taken
let focus = null; // finds the element of the new content that has the focus

const text = (values) => JSON.stringify(values);
const inputs = (form) => [...form.elements].filter((field) => !NO_INPUT.has(field.type));

function value(field) {
  if (field.type === "file") return [...field.files].map(({ name, size, lastModified }) => [name, size, lastModified]);
  if (field.type === "checkbox" || field.type === "radio") return field.checked;
  return field.value;
}

const values = (form) => text(inputs(form).map(value));

function isChanged(field) {
  if (field === document.activeElement) return true;
  if (field.type === "file") return field.files.length > 0;
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (field.tagName !== "SELECT") return field.value !== field.defaultValue;
  return field.selectedIndex !== Math.max(0, [...field.options].findIndex((option) => option.defaultSelected));
}

const isBegun = (form) => values(form) !== sent.get(form) && inputs(form).some(isChanged);

// What the server has sent in the inputs of a form.
const offered = (form) => text(inputs(form).map((field) => [field.name, field.defaultValue ?? "", field.placeholder ?? ""]));

function nameOf(form) {
  if (form.dataset.key) return form.dataset.key;
  const hidden = [...form.elements].filter((field) => field.type === "hidden").map((field) => field.value);
  return text([form.getAttribute("hx-post") ?? form.getAttribute("hx-get") ?? form.action, hidden, inputs(form).map((field) => field.name)]);
}

const titleOf = (details) => details.querySelector("summary")?.textContent;

// Returns the elements by name; those of the same name are counted.
function named(root, selector, name) {
  const found = new Map();
  const counts = new Map();
  for (const each of root.querySelectorAll(selector)) {
    const called = name(each);
    const count = counts.get(called) ?? 0;
    counts.set(called, count + 1);
    found.set(text([called, count]), each);
  }
  return found;
}

// Marks a form for htmx, which moves it into the new content. What it hides, such as the version of a job, becomes new
// if the person has seen what is new; otherwise the command refuses it as outdated.
function keep(form, fresh, number) {
  form.id = fresh.id = `begun-${number}`;
  fresh.setAttribute("hx-preserve", "");
  if (offered(form) !== offered(fresh)) return;
  for (const field of form.elements) {
    if (field.type === "hidden") field.value = fresh.elements[[...form.elements].indexOf(field)].value;
  }
}

function merge(old, fresh) {
  const forms = named(fresh, "form", nameOf);
  let count = 0;
  for (const [name, form] of named(old, "form", nameOf)) {
    if (form.contains(document.activeElement)) focus = find("form", nameOf, name, [...form.elements].indexOf(document.activeElement));
    if (forms.has(name) && isBegun(form) && !form.matches(".chosen")) keep(form, forms.get(name), count++);
  }
  for (const row of old.querySelectorAll("input[name=row]:checked")) {
    fresh.querySelector(`input[name=row][value="${CSS.escape(row.value)}"]`)?.setAttribute("checked", "");
  }
  const unfolded = named(fresh, "details", titleOf);
  for (const [name, details] of named(old, "details", titleOf)) {
    if (details.open) unfolded.get(name)?.setAttribute("open", "");
    if (details.firstElementChild === document.activeElement) focus = find("details", titleOf, name, -1);
  }
}

function find(selector, by, name, index) {
  return (root) => {
    const found = named(root, selector, by).get(name);
    return found?.elements?.[index] ?? found?.querySelector("summary");
  };
}

document.body.addEventListener("htmx:beforeRequest", ({ target }) => {
  if (target.matches("form")) asked.set(target, values(target));
});

document.body.addEventListener("htmx:afterRequest", ({ target, detail }) => {
  if (asked.has(target) && detail.xhr.getResponseHeader("HX-Trigger")) sent.set(target, asked.get(target));
});

document.body.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id !== "content" || !detail.shouldSwap) return;
  const asking = detail.requestConfig.elt;
  if (asked.has(asking)) sent.set(asking, asked.get(asking));
  const page = new DOMParser().parseFromString(detail.serverResponse, "text/html");
  const fresh = page.getElementById("content");
  if (!fresh) return;
  merge(detail.target, fresh);
  detail.serverResponse = page.documentElement.outerHTML;
});

document.body.addEventListener("htmx:afterSwap", () => {
  if (document.activeElement === document.body) focus?.(document.getElementById("content"))?.focus({ preventScroll: true });
  focus = null;
});
