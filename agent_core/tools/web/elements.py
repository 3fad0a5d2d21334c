"""Classes of HTML elements, as needed to convert pages, and the detection of hidden ones."""

import re
from collections.abc import Mapping
from typing import NamedTuple


def _named(names: str) -> frozenset[str]:
    return frozenset(names.split())


VOID = _named("area base br col embed hr img input link meta param source track wbr")
"""Elements without content and end tag."""
BLOCKS = _named(
    "address article aside body center dd details dialog dir div dl dt fieldset figcaption figure form header hgroup "
    "legend main optgroup option p search section summary tbody tfoot thead caption"
)
"""Elements separated from their surroundings."""
FURNITURE = _named(
    "script style noscript template nav footer svg canvas iframe object embed audio video select datalist "
    "button textarea xmp noembed noframes frameset annotation annotation-xml rp"
)
"""Elements whose content is not part of the text."""
HEADINGS = {f"h{level}": level for level in range(1, 7)}
SPECIAL = BLOCKS | HEADINGS.keys() | _named("ul ol menu li blockquote pre table tr td th html nav footer")
"""Elements not closed by the end tag of an inline element."""

_CELLS = _named("td th")
_PARTS = _named("thead tbody tfoot")
_TABLE = _named("table")


class Implied(NamedTuple):
    """Rule for omitted end tags: the elements that a start tag closes, and those where the search for them stops."""

    ends: frozenset[str]
    within: frozenset[str]


IMPLIED = (
    {"li": Implied(_named("li"), _named("ul ol menu")), "a": Implied(_named("a"), SPECIAL)}
    | dict.fromkeys(("dt", "dd"), Implied(_named("dt dd"), _named("dl")))
    | dict.fromkeys(_CELLS, Implied(_CELLS, _TABLE | {"tr"}))
    | {"tr": Implied(_CELLS | {"tr"}, _TABLE)}
    | dict.fromkeys(_PARTS, Implied(_CELLS | _PARTS | {"tr"}, _TABLE))
)
PARAGRAPH = Implied(_named("p"), _CELLS | _TABLE | _named("li div section article blockquote dd"))
ENDS_PARAGRAPH = SPECIAL - _CELLS - _PARTS - _named("tr caption option optgroup legend")
"""Elements that close a paragraph without an end tag."""


_WHOLE = frozenset({"html", "body"})
"""Some pages hide these until their scripts are ready."""
_ROLES = frozenset({"navigation", "contentinfo", "search", "menu", "menubar", "toolbar"})
_NOTHING = r"(?:0+(?:\.0*)?|\.0+)(?:px|r?em|ex|ch|pt|%|vh|vw)?(?:!important)?(?:;|$)"
_UNSEEN = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|content-visibility:hidden"
    rf"|(?:^|;)(?:(?:max-)?(?:width|height)|font-size|opacity|zoom):{_NOTHING}"
    r"|(?:^|;)(?:left|top|right|bottom):-\d{4}|(?:^|;)text-indent:-\d{3}"
    r"|(?:^|;)clip(?:-path)?:(?:rect\(0|inset\((?:50|100)%)"
    r"|(?:^|;)color:transparent|scale(?:3d|x|y)?\(0[,)]"
)
_NO_SIGN = re.compile(r"/\*.*?(?:\*/|\Z)|\s+", re.S)
_STYLE_CHARS = 4000


def is_hidden(name: str, attributes: Mapping[str, str]) -> bool:
    """Return True for elements marked as hidden or as a menu; style sheets are ignored."""
    if name in _WHOLE:
        return False
    if "hidden" in attributes or attributes.get("role", "").strip().lower() in _ROLES:
        return True
    # Formulas are often images hidden from screen readers, with the formula as alternative text.
    if name != "img" and attributes.get("aria-hidden", "").strip().lower() == "true":
        return True
    if name == "dialog" and "open" not in attributes:
        return True
    style = attributes.get("style")
    return style is not None and bool(_UNSEEN.search(_NO_SIGN.sub("", style[:_STYLE_CHARS]).lower()))
