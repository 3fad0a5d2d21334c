"""Telegram's rich messages: the HTML of which they may consist, and its limits."""

from html.parser import HTMLParser

from parley.testing.emulators.telegram_params import bad_request

MAX_TEXT = 32_768
MAX_BLOCKS = 500
MAX_DEPTH = 16
MAX_COLUMNS = 20
_BLOCKS = {"p", "pre", "li", "tr", "table", "ul", "ol", "blockquote", "hr", "details", "footer", "aside"} | {
    f"h{size}" for size in range(1, 7)
}
_INLINE = {"b", "strong", "i", "em", "u", "s", "del", "code", "a", "br", "sub", "sup", "mark", "td", "th", "summary"}
_ALONE = {"br", "hr"}


def rich_text(html: str) -> str:
    """Return what a rich message shows, cells apart. Raises TelegramError for what Telegram does not take."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    if reader.open:
        raise bad_request(f"can't parse rich message: tag {reader.open[-1]} is not closed")
    text = "".join(reader.shown).strip()
    if not text:
        raise bad_request("message text is empty")
    if len(text) > MAX_TEXT or reader.blocks > MAX_BLOCKS:
        raise bad_request("RICH_MESSAGE_TOO_LONG")
    return text


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.shown: list[str] = []
        self.blocks = 0
        self._cells = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _BLOCKS | _INLINE or any(name == "style" for name, _ in attrs):
            raise bad_request(f"can't parse rich message: unsupported tag {tag}")
        self.blocks += tag in _BLOCKS
        self._cells = 0 if tag == "tr" else self._cells + (tag in ("td", "th"))
        if self._cells > MAX_COLUMNS:
            raise bad_request("RICH_MESSAGE_TABLE_TOO_WIDE")
        if tag in ("td", "th") and self._cells > 1:
            self.shown.append(" | ")
        if tag not in _ALONE:
            self.open.append(tag)
        if len(self.open) > MAX_DEPTH:
            raise bad_request("RICH_MESSAGE_TOO_DEEP")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.shown.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            raise bad_request(f"can't parse rich message: unexpected end of tag {tag}")
        if tag in _BLOCKS:
            self.shown.append("\n")

    def handle_data(self, data: str) -> None:
        is_between = self.open and self.open[-1] in {"table", "tr", "ul", "ol"}
        self.shown.append(data.strip() if is_between or not self.open else data)
