// The switch with which this device is told of questions and reports while the page is closed, and what tells the server
// that somebody looks at a tab, so that nothing is pushed meanwhile.

import { ask, post, read } from "/net.js";

const PATH = "/push";
const LOOKED = "/push/looked";
const EVERY = 20_000; // milliseconds
const TAB = crypto.randomUUID();
const chinese = document.documentElement.lang.startsWith("zh");
const words = chinese
  ? {
      tell: "在此设备上通知我",
      denied: "浏览器已禁止本页发送通知。请在浏览器的网站设置中允许。",
      alone: "此浏览器无法使用推送服务。只要有标签页打开，您仍会收到通知。",
    }
  : {
      tell: "Tell me on this device",
      denied: "The browser does not let this page notify you. Allow it in the browser’s settings for this site.",
      alone: "This browser cannot use its push service. You are told while a tab is open.",
    };

// Who looks

const beat = setInterval(() => document.hidden || look(!document.hidden), EVERY);
document.addEventListener("visibilitychange", () => look(!document.hidden));
addEventListener("pagehide", () => look(false));
if (!document.hidden) look(true);

async function look(looked) {
  const answer = await post(LOOKED, { tab: TAB, looked }, { keepalive: true }).catch(() => null);
  if (answer?.status === 403) clearInterval(beat); // signed out
}

// The switch

const button = document.getElementById("notify");
if (button && navigator.serviceWorker && "PushManager" in window && "Notification" in window) begin();

async function begin() {
  const worker = await navigator.serviceWorker.ready;
  const hint = document.createElement("p");
  hint.className = "hint";
  hint.role = "status";
  button.after(hint);
  button.role = "switch";
  button.textContent = words.tell;
  button.hidden = false;
  const show = (on) => (button.ariaChecked = String(on));
  show(await isOn(worker));
  if (Notification.permission === "denied") hint.textContent = words.denied;
  button.onclick = async () => {
    button.disabled = true;
    hint.textContent = "";
    if (button.ariaChecked === "true") show(!(await end(worker)));
    else show(await start(worker, hint));
    button.disabled = false;
    button.focus();
  };
}

// Answers whether this device is told. An address that the browser has changed since is told to the server.
async function isOn(worker) {
  const known = await read(PATH);
  const own = await worker.pushManager.getSubscription();
  if (known && !known.endpoint) await own?.unsubscribe(); // of somebody who was signed in here before
  if (!known?.endpoint || Notification.permission !== "granted") return false;
  if (own?.endpoint === known.endpoint) return true;
  return subscribe(worker, known.key).catch(() => false);
}

async function start(worker, hint) {
  const allowed = await Notification.requestPermission();
  if (allowed === "denied") hint.textContent = words.denied;
  if (allowed !== "granted") return false;
  const known = await read(PATH);
  const on = known && (await subscribe(worker, known.key).catch(() => false));
  if (!on) hint.textContent = words.alone;
  return Boolean(on);
}

async function subscribe(worker, key) {
  const old = await worker.pushManager.getSubscription();
  await old?.unsubscribe(); // it may be that of another key
  const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const answer = await post(PATH, made.toJSON());
  return answer.ok;
}

// Answers whether that has ended.
async function end(worker) {
  const answer = await ask(PATH, { method: "DELETE" }).catch(() => null);
  await (await worker.pushManager.getSubscription())?.unsubscribe();
  return answer?.ok ?? false;
}
