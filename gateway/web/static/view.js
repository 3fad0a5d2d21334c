// Scrolling: the view follows new messages if it is at the end, else it stays.

const [scroller, latest] = ["scroller", "latest"].map((id) => document.getElementById(id));

export class View {
  #top = 0;

  constructor() {
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    const grown = new ResizeObserver(() => latest.hidden && this.toEnd());
    grown.observe(scroller);
    grown.observe(document.getElementById("log"));
    scroller.addEventListener("load", () => latest.hidden && this.toEnd(), { capture: true }); // pictures grow while they load
    latest.onclick = () => {
      this.toEnd();
      document.getElementById("text").focus();
    };
  }

  get atEnd() {
    return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 80;
  }

  toEnd() {
    scroller.scrollTop = scroller.scrollHeight;
    latest.hidden = true;
  }

  // Shows a message, wherever it is, and gives it the focus.
  to(node) {
    latest.hidden = false; // else the view would follow the end
    node.tabIndex = -1;
    node.focus({ preventScroll: true });
    node.scrollIntoView({ block: "center" });
  }

  following = (change) => {
    const follow = this.atEnd;
    change();
    if (follow) this.toEnd();
    latest.hidden = this.atEnd;
  };

  // Makes a change above what is shown, which stays where it is.
  staying(change) {
    const before = scroller.scrollHeight - scroller.scrollTop;
    change();
    scroller.scrollTop = scroller.scrollHeight - before;
    this.#top = scroller.scrollTop;
  }

  // Only scrolling up leaves the end: a page that grows below it sends no such event, and is followed.
  #scrolled() {
    const up = scroller.scrollTop < this.#top;
    this.#top = scroller.scrollTop;
    if (up || this.atEnd) latest.hidden = this.atEnd;
  }
}
