"""Conversion of what was fetched to text for a model: pages, feeds (RSS, Atom) and plain text."""

import codecs
import html
import re
from collections.abc import Iterator
from urllib.parse import urljoin

from agent_core.encodings import read_text
from agent_core.tools.tool import ToolFailed
from agent_core.tools.web.fetch import Fetched, Page
from agent_core.tools.web.invisible_characters import visible
from agent_core.tools.web.markup import EndTag, StartTag, attributes_of, tokens
from agent_core.tools.web.page import MOST_TAGS, read_page

MOST_ENTRIES = 50
SUMMARY_CHARS = 300
LONGEST_RAW = 4_000
"""Characters of an entry's text that are read."""
_START = re.compile(r"\s{0,99}(?:<[?!][^>]{0,999}>\s{0,99}){0,9}<(?:rss|feed|rdf:rdf)[\s>]", re.I)
_CDATA, _CDATA_END = "<![CDATA[", "]]>"

_ENTRIES = frozenset({"item", "entry"})
_FIELDS = {
    "title": "title",
    "link": "link",
    "pubdate": "date",
    "published": "date",
    "updated": "date",
    "dc:date": "date",
    "description": "summary",
    "summary": "summary",
    "content": "summary",
    "content:encoded": "summary",
}
"""Fields by their element in the various formats; the first of several wins."""


_Entry = dict[str, str]
"""Values by field."""
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_SNIFFED = 1000
"""Characters used to detect the type if the server does not declare it."""


def is_feed(content: str) -> bool:
    return _START.match(content) is not None


def read_feed(content: str, url: str) -> Page:
    """Convert a feed from `url`. Takes linear time for any input."""
    reading = _Reading()
    reading.read(_plain(content))
    title = _text(reading.about.get("title", ""))
    items = "".join(_item(entry, url) for entry in reading.entries[:MOST_ENTRIES])
    page = read_page(f"<title>{title}</title><ul>{items}</ul>", url)
    return Page(page.title, page.text, reading.whole and page.whole)


class _Reading:
    """A single pass over the tags."""

    def __init__(self) -> None:
        self.about: _Entry = {}
        self.entries: list[_Entry] = []
        self.whole = True
        self._entry = self.about
        self._field = ""
        """The element that is being read."""
        self._words: list[str] = []

    def read(self, content: str) -> None:
        for number, token in enumerate(tokens(content)):
            if number > MOST_TAGS or len(self.entries) > MOST_ENTRIES:
                self.whole = False
                return
            match token:
                case StartTag():
                    self._start(token)
                case EndTag(name=name):
                    self._end(name)
                case str() if self._field:
                    self._words.append(token)
                case _:
                    pass

    def _start(self, tag: StartTag) -> None:
        if tag.name in _ENTRIES:
            self._entry, self._field = {}, ""
            self.entries.append(self._entry)
        elif tag.name == "link" and "href" in tag.rest:
            attributes = attributes_of(tag)
            if attributes.get("rel", "alternate") == "alternate":
                _take(self._entry, "link", attributes.get("href", ""))
        elif not self._field and tag.name in _FIELDS and not tag.rest.endswith("/"):
            self._field, self._words = tag.name, []

    def _end(self, name: str) -> None:
        if name == self._field:
            _take(self._entry, _FIELDS[name], "".join(self._words))
            self._field = ""
        elif name in _ENTRIES:
            self._entry, self._field = {}, ""  # text between entries belongs to none


def _take(entry: _Entry, name: str, text: str) -> None:
    if text.strip() and not entry.get(name):
        entry[name] = text.strip()[:LONGEST_RAW]


def _item(entry: _Entry, url: str) -> str:
    address = entry.get("link", "")
    title = _text(entry.get("title", "")) or _text(address) or "(no title)"
    try:
        link = urljoin(url, address) if address else ""
    except ValueError:
        link = ""
    head = f'<a href="{html.escape(link)}">{title}</a>' if link else title
    date = f" ({_text(entry['date'])})" if "date" in entry else ""
    summary = _text(entry.get("summary", ""))
    return f"<li>{head}{date}{f'<br>{summary}' if summary not in ('', title) else ''}</li>"


def _text(markup: str) -> str:
    """Return the text in one line, escaped for HTML."""
    words = " ".join(read_page(markup, "").text.split()) if "<" in markup or "&" in markup else " ".join(markup.split())
    shortened = words if len(words) <= SUMMARY_CHARS else f"{words[: SUMMARY_CHARS - 1]}…"
    return html.escape(shortened)


def _plain(content: str) -> str:
    """Return the feed with CDATA sections as escaped text."""
    return "".join(_parts(content)) if _CDATA in content else content


def _parts(content: str) -> Iterator[str]:
    place = 0
    while (start := content.find(_CDATA, place)) >= 0:
        yield content[place:start]
        end = content.find(_CDATA_END, start)
        inside = content[start + len(_CDATA) : end if end >= 0 else len(content)]
        yield html.escape(inside, quote=False)
        place = end + len(_CDATA_END) if end >= 0 else len(content)
    yield content[place:]


def readable(fetched: Fetched) -> Page:
    """Convert a page. Run it in a thread: hostile input takes up to a second. Raises ToolFailed if it is not text."""
    markup = "html" in fetched.media_type or "xml" in fetched.media_type or not fetched.media_type
    content = decode(fetched.body, fetched.charset, markup=markup)
    if "\0" in content[:_SNIFFED]:
        raise ToolFailed("what is there is no text", "look for a page that says the same")
    if markup and is_feed(content):
        page = read_feed(content, fetched.url)
    elif fetched.media_type in _HTML or (not fetched.media_type and content[:_SNIFFED].lstrip().startswith("<")):
        page = read_page(content, fetched.url, xml=fetched.media_type.endswith("+xml"))
    else:
        page = Page("", visible(content).strip())
    return Page(page.title, page.text, page.whole and fetched.whole)


_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_DECLARED = re.compile(
    rb"""(?:<meta[^>]{1,400}?charset|<\?xml[^>]{1,200}?encoding)\s*=\s*["']?\s*([\w.:-]{1,40})""", re.I
)
DECLARED_WITHIN = 4096
"""Bytes in which a declaration is searched."""

_NAMES = (
    "utf-8 utf-16 utf-16-le utf-16-be ascii gbk gb2312 gb18030 big5 big5hkscs euc_jp shift_jis cp932 iso2022_jp euc_kr "
    "cp949 koi8-r koi8-u mac-roman mac-cyrillic cp866 tis-620"
)
_KNOWN = {
    *_NAMES.split(),
    *(f"iso8859-{number}" for number in range(1, 17)),
    *(f"cp{number}" for number in range(1250, 1259)),
}
"""Codecs accepted for pages; some of Python's others give lone surrogates or are slow."""
_WIDER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
"""Larger character sets used instead, as in browsers: many pages declare the smaller one."""


def decode(body: bytes, declared: str | None, *, markup: bool) -> str:
    """Decode by byte order mark, the header's charset, the declaration in `markup`, or what reads best; never fails."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    found = _DECLARED.search(body[:DECLARED_WITHIN]) if markup and not _codec(declared) else None
    inner = _codec(found.group(1).decode("ascii", "replace")) if found else None
    if inner and inner.startswith("utf-16"):  # UTF-16 cannot be declared in ASCII
        inner = "utf-8"
    if known := _codec(declared) or inner:
        return body.decode(known, "replace")
    text = read_text(body)
    return text.text if text else body.decode("utf-8", "replace")


def _codec(name: str | None) -> str | None:
    try:
        known = codecs.lookup((name or "").strip()).name
    except (LookupError, ValueError):
        return None
    return _WIDER.get(known, known) if known in _KNOWN else None
