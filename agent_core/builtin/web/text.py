"""Conversion of a fetched page to text for a model."""

from agent_core.builtin.web.charset import decode
from agent_core.builtin.web.feed import is_feed, read_feed
from agent_core.builtin.web.fetch import Fetched
from agent_core.builtin.web.page import read_page
from agent_core.builtin.web.visible import visible
from agent_core.builtin.web.words import Page
from agent_core.tools import ToolFailed

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
