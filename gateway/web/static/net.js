// Requests to the server. Each post carries the token that proves that this page sent it.

let token = null; // unknown until the server has told it

// Answers what the server says about itself, with the token for posts; null if it cannot be reached.
export async function about() {
  const answer = await fetch("/api/about").catch(() => null);
  if (!answer?.ok) return null;
  const told = await answer.json();
  token = told.csrf ?? "";
  return told;
}

export function headers() {
  return token ? { "X-Parley-Token": token } : {};
}

// Posts JSON and returns the answer. A token that has been replaced is asked for again. Throws TypeError if the server
// cannot be reached.
export async function post(path, body) {
  if (token === null) await about();
  const send = () => fetch(path, { method: "POST", headers: { "Content-Type": "application/json", ...headers() }, body: JSON.stringify(body) });
  const used = token;
  const answer = await send();
  if (answer.status !== 403) return answer;
  await about();
  return token === used ? answer : send();
}

// Returns the JSON at a path; null if it cannot be had.
export async function read(path, query = {}) {
  const answer = await fetch(`${path}?${new URLSearchParams(query)}`).catch(() => null);
  return answer?.ok ? answer.json() : null;
}
