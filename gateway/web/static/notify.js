// Shows notifications, by the worker where there is one, for phones show no others. The worker makes the page installable.

const worker = navigator.serviceWorker?.register("/worker.js").catch(() => null); // private windows refuse it

// Shows a notification, if the visitor has allowed it; `about.data` is a conversation or an address, see worker.js.
export async function notify(title, about) {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  const whole = { icon: "/icon.svg", ...about };
  const registered = await worker;
  if (registered?.active) return registered.showNotification(title, whole);
  const shown = new Notification(title, whole);
  shown.onclick = () => {
    focus();
    location.assign(about.data.startsWith("/") ? about.data : `/#${about.data}`);
    shown.close();
  };
}

// Takes back the notifications whose tags begin so and that are not among these.
export async function takeBack(start, tags) {
  const shown = (await (await worker)?.getNotifications()) ?? [];
  for (const each of shown) if (each.tag.startsWith(start) && !tags.has(each.tag)) each.close();
}
