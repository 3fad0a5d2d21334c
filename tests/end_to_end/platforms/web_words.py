"""Conversion of HTML to the text that a user reads."""

import re
from html.parser import HTMLParser

BLOCKS = {"p", "pre", "ul", "ol", "table", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "hr"}
LINES = {"li", "tr", "br"}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self._code = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._code += tag == "pre"
        if tag in BLOCKS:
            self._break(2)
        elif tag in LINES:
            self._break(1)

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag == "pre"
        if tag in BLOCKS:
            self._break(2)

    def handle_data(self, data: str) -> None:
        if self._code:
            self.text += data
        else:  # line breaks in the source are spaces
            words = re.sub(r"[ \t\n]+", " ", data)
            self.text += words.lstrip(" ") if self.text.endswith(("\n", "")[not self.text]) else words

    def _break(self, lines: int) -> None:
        if self.text:
            self.text = self.text.rstrip(" \n") + "\n" * lines


def words_of(html: str) -> str:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.text.strip("\n ")
