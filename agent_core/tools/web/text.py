"""Conversion of a fetched page to text for a model, decoded from the encoding that the page declares."""

import codecs
import re

from agent_core.tools.tool import ToolFailed
from agent_core.tools.web.feed import is_feed, read_feed
from agent_core.tools.web.fetch import Fetched, Page
from agent_core.tools.web.page import read_page
from agent_core.tools.web.visible import visible

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_SNIFFED = 1000
"""Characters used to detect the type if the server does not declare it."""


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
    """Decode by byte order mark, the header's charset, the declaration in `markup`, or UTF-8; never fails."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    found = _DECLARED.search(body[:DECLARED_WITHIN]) if markup and not _codec(declared) else None
    inner = _codec(found.group(1).decode("ascii", "replace")) if found else None
    if inner and inner.startswith("utf-16"):  # UTF-16 cannot be declared in ASCII
        inner = "utf-8"
    return body.decode(_codec(declared) or inner or "utf-8", "replace")


def _codec(name: str | None) -> str | None:
    try:
        known = codecs.lookup((name or "").strip()).name
    except (LookupError, ValueError):
        return None
    return _WIDER.get(known, known) if known in _KNOWN else None
