"""Which elements of a page say of themselves that nobody sees them."""

import re
from collections.abc import Mapping

_WHOLE = frozenset({"html", "body"})
"""Pages that their own scripts show when they are ready."""
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
    """Whether the element says itself that it is not shown, or that it is a menu; style sheets are not looked at."""
    if name in _WHOLE:
        return False
    if "hidden" in attributes or attributes.get("role", "").strip().lower() in _ROLES:
        return True
    # Formulas are often pictures that are hidden from readers of screens, with the formula as their text.
    if name != "img" and attributes.get("aria-hidden", "").strip().lower() == "true":
        return True
    if name == "dialog" and "open" not in attributes:
        return True
    style = attributes.get("style")
    return style is not None and bool(_UNSEEN.search(_NO_SIGN.sub("", style[:_STYLE_CHARS]).lower()))
