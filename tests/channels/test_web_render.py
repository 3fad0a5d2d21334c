"""Markdown becomes markup; no other text does."""

import re
from html.parser import HTMLParser

import pytest

from channels.web.render import plain, render

LINK = {"href", "rel", "target", "title", "class"}
ALLOWED: dict[str, set[str]] = {
    "a": LINK,
    "code": {"class"},
    "div": {"class", "tabindex"},
    "p": {"class"},
    "ol": {"start"},
    "th": {"class"},
    "td": {"class"},
}
PLAIN_TAGS = set(re.findall(r"\w+", "blockquote br em h1 h2 h3 h4 h5 h6 hr li pre s strong table tbody thead tr ul"))


class Tags(HTMLParser):
    """Collects every tag of a text with its attributes, as a browser would parse it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))


NASTY = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\nscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](\\x01javascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:x)",
    "[x](file:///etc/passwd)",
    "[x](//evil.example)",
    "<javascript:alert(1)>",
    "![x](javascript:alert(1))",
    "![x](data:image/svg+xml,<svg onload=alert(1)>)",
    '[x](http://a "onmouseover=alert(1)")',
    '[x](http://a"onmouseover="alert(1))',
    '![x" onerror="alert(1)](http://a)',
    '```js"onload="alert(1)\nx\n```',
    "```\n</code></pre><script>alert(1)</script>\n```",
    "`<script>alert(1)</script>`",
    "| <script> |\n|--|\n| <img onerror=x> |",
    'https://a.example/"onmouseover="alert(1)',
    "https://a.example/<script>",
    "[x]: javascript:alert(1)\n\n[x]",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
]


@pytest.mark.parametrize("nasty", NASTY)
def test_nothing_of_a_text_runs_or_loads(nasty: str) -> None:
    for html in (render(nasty), plain(nasty)):
        for tag, attributes in Tags(html).found:
            assert tag in ALLOWED.keys() | PLAIN_TAGS
            assert set(attributes) <= ALLOWED.get(tag, set())
            if tag == "a":
                assert attributes["href"].startswith(("http://", "https://", "mailto:"))
                assert (attributes["rel"], attributes["target"]) == ("noopener noreferrer nofollow", "_blank")


def test_an_image_is_a_link_and_never_loaded() -> None:
    html = render("![a cat](https://example.org/cat.png)")

    assert "<img" not in html
    assert ">a cat</a>" in html


def test_a_bare_address_is_a_link_without_the_dot_and_the_bracket_after_it() -> None:
    html = render("(see https://example.org/a_(b)_c?x=1&y=2).")

    assert 'href="https://example.org/a_(b)_c?x=1&amp;y=2"' in html
    assert html.endswith("</a>).</p>\n")


def test_an_address_in_code_or_in_a_link_is_left_alone() -> None:
    assert "<a" not in render("`https://example.org`")
    assert render("[https://example.org](https://example.org)").count("<a ") == 1


def test_cells_are_aligned_by_a_class_for_no_style_may_stand_in_the_page() -> None:
    html = render("| a | b | c | d |\n|:--|:-:|--:|---|\n| 1 | 2 | 3 | 4 |")

    cells = [attributes.get("class") for tag, attributes in Tags(html).found if tag == "td"]
    assert cells == ["to-left", "to-center", "to-right", None]
    assert "style" not in html


def test_code_has_the_class_of_its_language_and_tables_scroll() -> None:
    assert '<code class="language-python">' in render("```python\nx = 1\n```")
    assert render("| a |\n|--|\n| 1 |").startswith('<div class="wide" tabindex="0"><table>')


def test_each_line_of_a_progress_stays_a_line() -> None:
    assert render("✓ clock\n… notes") == "<p>✓ clock<br />\n… notes</p>\n"


def test_what_a_person_typed_stays_as_typed() -> None:
    assert plain("a **b**\n<c>") == '<p class="typed">a **b**\n&lt;c&gt;</p>'
    assert plain("") == ""


def test_a_wild_text_is_rendered_in_bounded_time() -> None:
    for wild in ("[" * 20_000, "> " * 5_000, "*a " * 20_000, "https://" * 10_000, "`" * 20_000):
        assert render(wild)
