"""Feeds are read as a list of links to their entries."""

import pytest

from agent_core.tools.web.fetch import Fetched
from agent_core.tools.web.text import MOST_ENTRIES, is_feed, read_feed, readable
from tests.cpu import cpu_seconds_at_most

HERE = "https://news.example/feed.xml"
RSS = """<?xml version="1.0" encoding="UTF-8"?>
<!-- made by hand -->
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:content="http://purl.org/rss/1.0/modules/content/">
<channel>
  <title>The News</title><link>https://news.example/</link>
  <atom:link href="https://news.example/feed.xml" rel="self"/>
  <description>All of it</description>
  <item>
    <title><![CDATA[Rain & <b>wind</b>]]></title>
    <link>/rain?a=1&amp;b=2</link>
    <guid>1</guid>
    <pubDate>Sun, 22 Nov 2026 10:00:00 GMT</pubDate>
    <description>&lt;p&gt;It &lt;em&gt;rains&lt;/em&gt; again.&lt;/p&gt;&lt;script&gt;x()&lt;/script&gt;</description>
    <content:encoded><![CDATA[<p>Long words > short words</p>]]></content:encoded>
  </item>
  <item><title>Sun</title><description><![CDATA[<p>Shines</p> <a href="x">more</a>]]></description></item>
  <image><title>logo</title></image>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://other.example/">
<title type="html">Releases</title>
<link rel="self" href="https://news.example/atom"/>
<entry>
  <title>1.2 &amp; 1.3</title>
  <link rel="enclosure" href="https://news.example/file.mp3"/>
  <link href="https://news.example/1.3"/>
  <updated>2026-11-22T10:00:00Z</updated><published>2026-11-20T10:00:00Z</published>
  <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Fixes <b>all</b>.</p></div></content>
</entry></feed>"""
RDF = """<rdf:RDF xmlns:rdf="x"><channel><title>Old</title></channel>
<item rdf:about="x"><title>One</title><link>https://old.example/1</link><dc:date>2026-11-22</dc:date></item></rdf:RDF>"""


def fetched(content: str, media_type: str) -> Fetched:
    return Fetched(HERE, 200, media_type, None, content.encode(), whole=True)


def test_an_rss_feed_is_a_list_of_its_entries() -> None:
    page = read_feed(RSS, HERE)

    assert page.title == "The News"
    assert page.text.splitlines() == [
        "- [Rain & wind](https://news.example/rain?a=1&b=2) (Sun, 22 Nov 2026 10:00:00 GMT)",
        "  It rains again.",
        "- Sun",
        "  Shines more",
    ]


def test_an_atom_feed_is_one_too() -> None:
    page = read_feed(ATOM, HERE)

    assert page.title == "Releases"
    assert page.text.splitlines() == [
        "- [1.2 & 1.3](https://news.example/1.3) (2026-11-22T10:00:00Z)",
        "  Fixes all.",
    ]


def test_so_is_rdf() -> None:
    assert read_feed(RDF, HERE).text == "- [One](https://old.example/1) (2026-11-22)"


@pytest.mark.parametrize(
    "media_type", ["application/rss+xml", "application/atom+xml", "application/xml", "text/xml", "text/html", ""]
)
def test_it_is_known_by_what_it_says(media_type: str) -> None:
    assert readable(fetched(RSS, media_type)).text.startswith("- [Rain & wind](https://news.example/rain")


@pytest.mark.parametrize("content", ["<html><rss><item>", "<p>see <feed>", "<a><rss>", "rss", "<?xml?><svg>"])
def test_other_things_are_none(content: str) -> None:
    assert not is_feed(content)


def test_text_that_is_no_markup_is_left_alone() -> None:
    assert readable(fetched("<rss><item><title>x", "text/plain")).text == "<rss><item><title>x"


def test_only_so_many_entries_are_read() -> None:
    items = "".join(f"<item><title>Entry {number}</title></item>" for number in range(MOST_ENTRIES + 1))

    page = read_feed(f"<rss><channel>{items}</channel></rss>", HERE)

    assert len(page.text.splitlines()) == MOST_ENTRIES
    assert not page.whole


@pytest.mark.parametrize(
    "content",
    [
        "<rss><item><title>cut",
        "<rss><item><title><![CDATA[cut",
        "<rss><item><link>http://[</link><title>x</title></item></rss>",
        "<rss><item></item><item><title></title><link>javascript:x()</link></item></rss>",
        "<feed><entry><link href=></entry></feed>",
        "<rss></item></item><item><item><title>a</title></rss>",
    ],
)
def test_what_is_broken_is_read_as_far_as_it_goes(content: str) -> None:
    page = read_feed(content, HERE)

    assert "](javascript" not in page.text
    assert "](http://[" not in page.text


@pytest.mark.parametrize(
    "piece", ["<item><title>", "<![CDATA[", "<item>", "<![CDATA[]]>", "&lt;", "<title>", "<link href='x'>", "<item/>"]
)
def test_what_is_hostile_takes_no_time(piece: str) -> None:
    content = "<rss>" + piece * (1_000_000 // len(piece))

    with cpu_seconds_at_most(5):
        read_feed(content, HERE)
