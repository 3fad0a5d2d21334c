// The showroom: three columns, the person who writes in them, and the stream of what happens.

import { Column } from "./column.js";
import { element } from "./markup.js";

const by = (id) => document.getElementById(id);
const columns = new Map();
let heard = false;
let nodes = null;

async function start() {
  const about = await (await fetch("/api/about")).json();
  for (const platform of about.platforms) {
    const column = new Column(platform, (action, body) => ask(action, { platform: platform.name, ...body }));
    columns.set(platform.name, column);
    by("columns").append(column.element);
    const tab = element("button", { type: "button", onclick: () => turn(platform.name) }, platform.title);
    tab.dataset.platform = platform.name;
    by("switch").append(tab);
  }
  about.people.forEach((person, index) => offer(person, index === 0));
  for (const { title, name } of about.models) {
    const choose = () => columns.forEach((column) => column.command(`model ${name}`));
    by("choices").append(element("button", { type: "button", title: name, onclick: choose }, title));
  }
  by("copy").onclick = () => navigator.clipboard.writeText(by("command").textContent);
  turn(about.platforms[0].name);
  listen(about);
}

function offer(person, first) {
  const input = element("input", { type: "radio", name: "person", value: person, checked: first });
  const become = () => columns.forEach((column) => column.become(person));
  input.onchange = become;
  by("people").append(element("label", {}, input, element("span", {}, person)));
  if (first) become();
}

function turn(platform) {
  for (const [name, column] of columns) column.element.classList.toggle("front", name === platform);
  for (const tab of by("switch").children) {
    tab.ariaPressed = String(tab.dataset.platform === platform);
    if (tab.dataset.platform === platform) tab.classList.remove("news");
  }
}

function listen(about) {
  const source = new EventSource("/api/events");
  source.onmessage = (event) => {
    for (const [key, value] of Object.entries(JSON.parse(event.data))) take(key, value);
    heard = true;
    const connected = [...columns.values()].some((column) => column.condition.connected);
    if (connected) by("invitation").hidden = true;
    else if (nodes === null) invite("No Parley is here yet. In another terminal:", about.command);
    else if (nodes.some((node) => node.runs)) invite("No node is connected yet. What you write is answered once one is.");
    else invite("All nodes are stopped. Start one, and it answers what you write meanwhile.");
  };
  source.onerror = () => {
    heard = false;
    invite("The emulators are gone. Start them again:", about.again);
  };
}

function take(key, value) {
  if (key === "nodes") return showNodes(value);
  if (key === "models") return showRefused(value);
  const [platform, room] = key.split("/");
  const column = columns.get(platform);
  if (!room) return column.learn(value);
  column.see(room, value);
  const tab = [...by("switch").children].find((each) => each.dataset.platform === platform);
  if (heard && tab.ariaPressed !== "true") tab.classList.add("news");
}

function showRefused(refused) {
  const models = by("choices").children.length;
  const summary = by("models").firstElementChild;
  summary.textContent = refused.length ? `${models} models, ${refused.length} refused requests` : `${models} models`;
  by("refused").replaceChildren(...refused.map((each) => element("li", {}, each)));
}

function showNodes(shown) {
  nodes = shown;
  const list = by("nodes");
  while (list.children.length < shown.length) {
    list.append(element("p", {}, element("button", { type: "button" }), element("span", {})));
  }
  shown.forEach(({ name, runs, about }, index) => {
    const [button, words] = list.children[index].children;
    button.onclick = () => ask("node", { node: name, runs: !runs });
    button.className = runs ? "runs" : "";
    button.textContent = runs ? `Kill ${name}` : `Start ${name}`;
    words.textContent = `${name} ${about}`;
  });
  list.hidden = false;
}

function invite(why, command = "") {
  by("why").textContent = why;
  by("command").textContent = command;
  by("command").hidden = by("copy").hidden = !command;
  by("invitation").hidden = false;
}

async function ask(action, body) {
  try {
    const answer = await fetch(`/api/${action}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    return answer.ok ? "" : await answer.text();
  } catch {
    return "The emulators do not answer.";
  }
}

start();
