"""The text of HTML, as mails and some old programs have it."""

import re
from html.parser import HTMLParser

_BLOCKS = frozenset(("p", "div", "br", "tr", "li", "h1", "h2", "h3", "h4", "table", "blockquote", "pre"))
_CELLS = frozenset(("td", "th"))
_NO_WORDS = re.compile(r"[\s|]*")
_UNSEEN = frozenset(("script", "style", "head", "title", "template"))


def text_of_html(html: str) -> str:
    """Return the text of a page, without what it does not show."""
    parser = _Text()
    parser.feed(html)
    parser.close()
    lines = ("".join(parser.pieces)).splitlines()
    flat = ["" if _NO_WORDS.fullmatch(line) else " ".join(line.split()) for line in lines]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(flat)).strip()


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._unseen = 0
        self._is_first_cell = True

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in _UNSEEN
        if tag in _CELLS:
            self.pieces += [] if self._is_first_cell else [" | "]
            self._is_first_cell = False
        if tag in _BLOCKS:
            self.pieces.append("\n")
            self._is_first_cell = tag == "tr" or self._is_first_cell

    def handle_endtag(self, tag: str) -> None:
        self._unseen -= tag in _UNSEEN and self._unseen > 0
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.pieces.append(data.replace("\n", " "))
