// Requests to the server. Each brings the token that the browser got when it signed in. Browsers send the cookie to all
// ports of a host, but only scripts of this origin can read its storage.

const kept = (name) => localStorage.getItem(`parley.${name}`) ?? "";

// Answers the header without which the server answers nothing.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";

export const headers = () => ({ "X-Parley-Token": kept("token"), "X-Parley-Zone": zone });

// Makes a request. Throws TypeError if the server cannot be reached.
export const ask = (path, init = {}) => fetch(path, { ...init, headers: { ...init.headers, ...headers() } });

// Answers an address for the browser itself, which adds no header to what it shows, saves and follows.
export const withTicket = (path) => `${path}${path.includes("?") ? "&" : "?"}ticket=${kept("ticket")}`;

// Posts JSON and returns the answer. Throws TypeError if the server cannot be reached.
export const post = (path, body, init = {}) =>
  ask(path, { ...init, method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

// Returns the JSON at a path; null if it cannot be had.
export async function read(path, query = {}) {
  const answer = await ask(`${path}?${new URLSearchParams(query)}`).catch(() => null);
  return answer?.ok ? answer.json() : null;
}
