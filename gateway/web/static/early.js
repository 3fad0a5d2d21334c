// Keeps a form that is sent before the scripts of its page are there, and sends it then. The browser would send it by itself:
// what was typed, perhaps a token, would be in the address, and nothing would come of it.

{
  let early = null;
  const keep = (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    early = event;
  };
  addEventListener("submit", keep, true);
  addEventListener("DOMContentLoaded", () =>
    setTimeout(() => {
      removeEventListener("submit", keep, true);
      early?.target.requestSubmit(early.submitter);
    }),
  );
}
