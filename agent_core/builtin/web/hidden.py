"""Detection of page elements that are not visible."""

import re
from collections.abc import Mapping

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
