// Follows the log: asks for new lines while the tab is shown, and keeps the last thousand.

import { ask } from "/net.js";

const EVERY = 2000; // milliseconds
const MOST = 1000;

async function follow() {
  const log = document.getElementById("log");
  if (!log || document.hidden) return;
  const { last, level, words } = log.dataset;
  const query = new URLSearchParams({ after: last, level, q: words });
  const answer = await ask(`/admin/api/log?${query}`).catch(() => null);
  if (!answer?.ok || !log.isConnected || log.dataset.last !== last) return;
  const news = await answer.json();
  const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  for (const { level: of, text } of news.lines) {
    const line = document.createElement("div");
    line.className = of;
    line.textContent = text;
    log.append(line);
  }
  while (log.childElementCount > MOST) log.firstElementChild.remove();
  log.dataset.last = news.last;
  if (isAtEnd) log.scrollTop = log.scrollHeight;
}

function toEnd() {
  const log = document.getElementById("log");
  if (log) log.scrollTop = log.scrollHeight;
}

document.body.addEventListener("htmx:afterSettle", (event) => event.detail.target.id === "content" && toEnd());
setInterval(follow, EVERY);
toEnd();
