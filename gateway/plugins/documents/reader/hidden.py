"""Text in Word files that is formatted as hidden: by itself, or by a style."""

from xml.etree.ElementTree import Element

from gateway.plugins.documents.reader.office_xml import OfficeFile

_OFF = frozenset(("0", "false", "off"))


class HiddenText:
    """The styles of a Word file, as far as they hide text."""

    def __init__(self, office: OfficeFile, styles: str | None) -> None:
        self._hides: dict[str, bool] = {}
        """The styles that say themselves whether they hide."""
        self._based_on: dict[str, str] = {}
        self._usual = ""
        """The style of paragraphs that name none."""
        self._are_all = False
        for each in office.elements(styles, "docDefaults", "style") if styles else ():
            if each.tag == "docDefaults":
                self._are_all = bool(_said(each.find("rPrDefault/rPr")))
            else:
                self._take(each)

    def _take(self, style: Element) -> None:
        name, base = style.get("styleId", ""), style.find("basedOn")
        if (hides := _said(style.find("rPr"))) is not None:
            self._hides[name] = hides
        if base is not None:
            self._based_on[name] = base.get("val", "")
        if style.get("type") == "paragraph" and style.get("default", "0") not in _OFF:
            self._usual = name

    def has(self, run: Element, paragraph: str) -> bool:
        """Return True if a run is hidden in a paragraph of this style; a style in a hiding one that hides, shows."""
        properties = run.find("rPr")
        if (said := _said(properties)) is not None:
            return said
        its = properties.find("rStyle") if properties is not None else None
        by_style = self._is_hiding(its.get("val", "")) if its is not None else False
        return self._are_all or by_style != self._is_hiding(paragraph or self._usual)

    def _is_hiding(self, style: str) -> bool:
        """Return True if a style hides, or the nearest one does that says so and on which it is based."""
        seen = set[str]()
        while style not in self._hides and style in self._based_on and style not in seen:
            seen.add(style)
            style = self._based_on[style]
        return self._hides.get(style, False)


def _said(properties: Element | None) -> bool | None:
    """Return whether these hide; None if they do not say."""
    found = properties.find("vanish") if properties is not None else None
    return None if found is None else found.get("val", "true") not in _OFF
