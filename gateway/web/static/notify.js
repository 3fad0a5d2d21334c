// Shows notifications, by the worker where there is one, for phones show no others. The worker makes the page installable.

const worker = navigator.serviceWorker?.register("/worker.js").catch(() => null); // private windows refuse it

// A browser that is asked for the notifications forgets those that it is about to show: a press on them would do nothing,
// and nobody could take them back. So all tabs together do one after the other.
const alone = (act) => navigator.locks.request("parley-notifications", act);

// Shows a notification, if the visitor has allowed it; `about.data` is a conversation or an address, see worker.js.
export async function notify(title, about) {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  const whole = { icon: "/icon.svg", ...about };
  const registered = await worker;
  if (registered?.active) return alone(() => registered.showNotification(title, whole));
  const shown = new Notification(title, whole);
  shown.onclick = () => {
    focus();
    location.assign(about.data.startsWith("/") ? about.data : `/#${about.data}`);
    shown.close();
  };
}

// Takes back the notifications whose tags begin so and that are not among these.
export async function takeBack(start, tags) {
  const registered = await worker;
  if (!registered) return;
  const shown = await alone(() => registered.getNotifications());
  for (const each of shown) if (each.tag.startsWith(start) && !tags.has(each.tag)) each.close();
}
