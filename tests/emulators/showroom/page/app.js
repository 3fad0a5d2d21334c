// The showroom: three columns, the person who writes in them, and the stream of what happens.

import { Column } from "./column.js";
import { element } from "./markup.js";

const by = (id) => document.getElementById(id);
const columns = new Map();
let heard = false;

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
  by("command").textContent = about.command;
  by("copy").onclick = () => navigator.clipboard.writeText(about.command);
  turn(about.platforms[0].name);
  listen();
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

function listen() {
  const source = new EventSource("/api/events");
  source.onmessage = (event) => {
    for (const [key, value] of Object.entries(JSON.parse(event.data))) take(key, value);
    heard = true;
    invite("No Parley is here yet. In another terminal:");
  };
  source.onerror = () => {
    heard = false;
    by("invitation").hidden = false;
    by("why").textContent = "The emulators are gone. Start them again with ./run emulators, and beside them:";
  };
}

function take(key, value) {
  if (key === "nodes") return showNodes(value);
  const [platform, room] = key.split("/");
  const column = columns.get(platform);
  if (!room) return column.learn(value);
  column.see(room, value);
  const tab = [...by("switch").children].find((each) => each.dataset.platform === platform);
  if (heard && tab.ariaPressed !== "true") tab.classList.add("news");
}

function showNodes(nodes) {
  const buttons = Object.entries(nodes).map(([node, runs]) => {
    const change = () => ask("node", { node, runs: !runs });
    return element("button", { type: "button", onclick: change, className: runs ? "runs" : "" }, runs ? `Kill ${node}` : `Start ${node}`);
  });
  by("nodes").replaceChildren(...buttons);
  by("nodes").hidden = false;
}

function invite(why) {
  by("why").textContent = why;
  by("invitation").hidden = [...columns.values()].some((column) => column.condition.connected);
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
