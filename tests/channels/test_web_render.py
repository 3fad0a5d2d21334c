"""Markdown becomes markup; no other text does."""

import re
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.text import literal
from channels.web.formulas import formula
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
    "span": {"class"},
    "input": {"type", "disabled", "checked"},
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


# Formulas, code and tasks


@pytest.mark.parametrize("written", ["$x^2$", r"\(x^2\)", "$$x^2$$", "$$\nx^2\n$$", "\\[x^2\\]"])
def test_a_formula_is_drawn_by_the_browser_itself(written: str) -> None:
    drawn = render(f"Before\n\n{written}\n\nafter")
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in drawn
    assert "$" not in drawn
    assert drawn.startswith("<p>Before</p>")


@pytest.mark.parametrize(
    "text", ["It costs $5 or $6.", "from $HOME to $PATH", "a \\$x$ b", "`$x$`", "$$", "$ x $", "$$\nx"]
)
def test_money_and_variables_are_no_formulas(text: str) -> None:
    assert "<math" not in render(text)


@pytest.mark.parametrize(
    "latex", ["{" * 900 + "x" + "}" * 900, "x" * 2_500, r"\frac{1", r"\left(", "&&&", r"\unknown{x}"]
)
def test_what_is_no_formula_harms_nothing(latex: str) -> None:
    assert latex[:50].split("{", maxsplit=1)[0].strip("\\&(") in render(f"${latex}$") or "<math" in render(f"${latex}$")


ELEMENT = re.compile(r"<(/?)([a-zA-Z]+)([^>]*)>")
HARMLESS = re.compile(
    r'( (display|mathvariant|stretchy|fence|form|lspace|rspace|columnalign|mathcolor|[a-z]+)="[^"<>:();]*")*'
)
OUTER = (r"\text{", r"\href{javascript:alert(1)}{", r"\style{background:url(//evil)}{", r"\class{copy}{", r"\frac{a}{")
INNER = ("}", "<img src=x onerror=alert(1)>", "&lt;script&gt;", r"\color{red}", '"onload="', "x^2", "&", "\\\\", "😀")
PIECES = st.sampled_from((*OUTER, *INNER, r"\begin{matrix}", r"\end{matrix}"))


@given(st.lists(PIECES, max_size=12).map("".join))
def test_no_formula_brings_an_element_or_an_attribute_that_acts(latex: str) -> None:
    drawn = formula(latex)
    for _, name, attributes in ELEMENT.findall(drawn):
        assert name in {"math", "code"} or name.startswith("m") or name in {"none", "semantics"}
        assert HARMLESS.fullmatch(attributes)
        assert not re.search(r"\b(href|style|class|id|on\w+|src|actiontype)=", attributes)


def test_code_has_colours_by_classes_and_stays_text() -> None:
    drawn = render("```python\ndef f():\n    return '<b>'  # done\n```")
    assert '<span class="c-keyword">def</span>' in drawn
    assert '<span class="c-comment"># done</span>' in drawn
    assert "&lt;b&gt;" in drawn
    assert "style=" not in drawn


@pytest.mark.parametrize("language", ["", "no-such-language", '"><script>', "python " + "x" * 20_001])
def test_code_without_a_known_language_or_too_much_of_it_is_plain(language: str) -> None:
    name, _, code = language.partition(" ")
    drawn = render(f"```{name}\nif <x>: {code}\n```")
    assert "if &lt;x&gt;" in drawn
    assert "<span" not in drawn
    assert "<script" not in drawn


def test_tasks_have_boxes() -> None:
    drawn = render("- [x] done\n- [ ] to do\n\n1. [X] **also**\n\n[x] no item")
    assert drawn.count("<input") == 3
    assert '<label><input type="checkbox" disabled checked> done</label>' in drawn
    assert '<label><input type="checkbox" disabled> to do</label>' in drawn
    assert "<p>[x] no item</p>" in drawn


@given(st.text(alphabet="$ab1 \\()[]{}_*.~|x-", min_size=1, max_size=30))
def test_literal_text_with_signs_of_formulas_is_shown_as_it_is(text: str) -> None:
    words = " ".join(f"a{text}b".split())
    assert unescape(re.sub(r"<[^>]*>", "", render(literal(words)))).strip() == words
