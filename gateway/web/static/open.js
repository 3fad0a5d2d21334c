// Opens an address of the page: a browser that follows a link brings no token, so this script asks again with it, and puts
// the answer in the place of the empty page that it came with.

import { ask } from "./net.js";

const answer = await ask(location.pathname + location.search).catch(() => null);
if (!answer) location.replace("/offline.html");
else if (answer.redirected) location.replace(answer.url);
else {
  const page = await answer.text();
  document.open();
  document.write(page);
  document.close();
}
