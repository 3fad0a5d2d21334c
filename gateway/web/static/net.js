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

// Answers the headers of a request that changes something, once the token is known.
export async function headers() {
  if (token === null) await about();
  return token ? { "X-Parley-Token": token } : {};
}

// Posts JSON and returns the answer. A token that has been replaced is asked for again. Throws TypeError if the server
// cannot be reached.
export async function post(path, body) {
  const send = async () => {
    const all = { "Content-Type": "application/json", ...(await headers()) };
    return fetch(path, { method: "POST", headers: all, body: JSON.stringify(body) });
  };
  await headers();
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
