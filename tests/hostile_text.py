"""Texts that try to become script, style or markup in the page, and a check of the HTML that was made of them."""

import random
from collections.abc import Iterator
from html.parser import HTMLParser

FRAGMENTS = (
    "<script>hit()</script>",
    "<img src=x onerror=hit()>",
    "<svg/onload=hit()>",
    "<svg><script>hit()</script></svg>",
    "<math><mi xlink:href='javascript:hit()'>x</mi></math>",
    "<iframe srcdoc='<script>parent.hit()</script>'>",
    "<iframe src=javascript:hit()>",
    "<object data=javascript:hit()>",
    "<embed src=javascript:hit()>",
    "<a href=javascript:hit()>x</a>",
    "<form action=javascript:hit()><button>x",
    "<style>*{background:url(javascript:hit())}</style>",
    "<p style='background:url(//evil.example)'>x",
    "<details open ontoggle=hit()>",
    "<input autofocus onfocus=hit()>",
    "<base href=//evil.example>",
    "<meta http-equiv=refresh content='0;url=javascript:hit()'>",
    "<link rel=stylesheet href=//evil.example>",
    "<template><script>hit()</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=hit()>'>",
    '"><img src=x onerror=hit()>',
    "'><img src=x onerror=hit()>",
    '" onmouseover="hit()" x="',
    "' autofocus onfocus='hit()' x='",
    "</textarea><img src=x onerror=hit()>",
    "</title><script>hit()</script>",
    "--><script>hit()</script>",
    "]]><script>hit()</script>",
    "[x](javascript:hit())",
    "[x](JaVaScRiPt:hit())",
    "[x](java\tscript:hit())",
    "[x](&#106;avascript:hit())",
    "[x](javascript&colon;hit())",
    "[x](data:text/html,<script>hit()</script>)",
    "[x](data:text/html;base64,PHNjcmlwdD5oaXQoKTwvc2NyaXB0Pg==)",
    "[x](vbscript:hit())",
    "[x](file:///etc/passwd)",
    '[x](https://a.example "\\" onclick=\\"hit()")',
    "![x](javascript:hit())",
    '![" onerror=hit() x="](https://a.example/x.png)',
    "<javascript:hit()>",
    '<https://a.example/"onclick=hit()>',
    "[x]: javascript:hit()\n\n[x]",
    "```html onload=hit()\n<script>hit()</script>\n```",
    '```"><img src=x onerror=hit()>\nx\n```',
    "`<script>hit()</script>`",
    "$\\href{javascript:hit()}{x}$",
    "$$\\text{<img src=x onerror=hit()>}$$",
    "$\\unicode{<script>}$",
    "| a | b |\n| :- | -: |\n| <img src=x onerror=hit()> | [x](javascript:hit()) |\n",
    "- [x] <script>hit()</script>",
    "> <svg onload=hit()>",
    "&lt;script&gt;hit()&lt;/script&gt;",
    "\u202e<img src=x onerror=hit()>",
    "\x00<scr\x00ipt>hit()</scr\x00ipt>",
    "\u2028<script>hit()</script>\u2029",
    "＜script＞hit()＜/script＞",
    "{{ 7 * 7 }}{% raw %}",
    "${hit()}",
)
GLUE = ("", " ", "\n", "\n\n", "**", "_", "`", "> ", "- ", "| ", "\\", "&", "<", '"', "'", "[", "](", ")", "$", "# ")
SAFE_SCHEMES = ("http:", "https:", "mailto:", "tel:", "/", "#", "?")
FORBIDDEN = {"script", "iframe", "object", "embed", "style", "link", "meta", "base", "frame", "frameset", "template"}
ADDRESSES = {"href", "src", "action", "formaction", "data", "srcdoc", "xlink:href", "background", "poster"}


def hostile_texts(count: int, seed: int = 15) -> Iterator[str]:
    """Yield so many texts: each fragment alone, then random compositions of them, some of them cut."""
    chance = random.Random(seed)  # noqa: S311 - the same in every run
    yield from FRAGMENTS[:count]
    for _ in range(max(0, count - len(FRAGMENTS))):
        parts = [each for _ in range(chance.randint(1, 4)) for each in (chance.choice(FRAGMENTS), chance.choice(GLUE))]
        chance.shuffle(parts)
        text = "".join(parts)
        yield text[chance.randint(0, 5) :] if chance.random() < 0.2 else text


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in FORBIDDEN:
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            address = "".join(char for char in value or "" if char > " ").lower()
            if name.startswith("on") or name in ("style", "srcdoc"):
                self.found.append(f"{tag} {name}")
            elif name in ADDRESSES and not address.startswith(SAFE_SCHEMES):
                self.found.append(f"{tag} {name}={value}")


def live_parts(html: str) -> list[str]:
    """Return the elements and attributes of HTML that could run or load something."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.found
