// Keeps the distances of moments as they are while a page is open, in the words in which the server has written them.

const EVERY = 30_000; // milliseconds
const MOST = 7 * 86_400; // seconds from now up to which a moment is told by its distance
const NOW = 45;
const UNITS = [[86_400, "day"], [3_600, "hour"], [60, "minute"]];

const words = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "always" });

function renew() {
  for (const element of document.querySelectorAll("time[title]")) {
    const seconds = Date.parse(element.dateTime) / 1000 - Date.now() / 1000;
    const distance = Math.abs(seconds);
    if (distance > MOST || distance < NOW) continue;
    const [size, unit] = UNITS.find(([each]) => Math.round(distance / each) >= 1) ?? UNITS.at(-1);
    element.textContent = words.format(Math.sign(seconds) * Math.round(distance / size), unit);
  }
}

setInterval(renew, EVERY);
