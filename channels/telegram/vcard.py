"""The entries of a contact's vCard, as a reader needs them."""

import quopri
import re
from collections.abc import Iterator

_NAMES = {
    "EMAIL": "Email",
    "TEL": "Phone",
    "URL": "Web",
    "ORG": "Organisation",
    "TITLE": "Title",
    "ROLE": "Role",
    "ADR": "Address",
    "BDAY": "Birthday",
    "NICKNAME": "Nickname",
    "NOTE": "Note",
}
"""The entries that are shown, without pictures, keys and marks of programs."""
_FOLDED = re.compile(r"\r?\n[ \t]")
_SOFT_BREAK = re.compile(r"=\r?\n")
_ENTRY = re.compile(r"(?:[\w-]+\.)?(?P<name>[A-Za-z-]+)(?P<how>(?:;[^:]*)?):(?P<value>.*)")
_ESCAPED = re.compile(r"\\([nN,;:\\])")
_PARTS = re.compile(r"(?<!\\);")


def card_words(card: str, phone: str, name: str) -> str:
    """Return the entries of a vCard, one a line, without the phone number and the name that are told already."""
    return "\n".join(dict.fromkeys(_entries(card, _digits(phone), name)))


def _entries(card: str, phone: str, told: str) -> Iterator[str]:
    for line in _unfolded(card).splitlines():
        entry = _ENTRY.match(line.strip())
        if entry is None:
            continue
        kind, value = entry["name"].upper(), _value(entry["value"], entry["how"])
        if kind == "FN" and value and value != told:
            yield f"Name: {value}"
        elif kind in _NAMES and value and not (kind == "TEL" and _digits(value) == phone):
            yield f"{_NAMES[kind]}: {value}"


def _unfolded(card: str) -> str:
    return _FOLDED.sub("", _SOFT_BREAK.sub("", card) if "QUOTED-PRINTABLE" in card.upper() else card)


def _value(raw: str, how: str) -> str:
    if "QUOTED-PRINTABLE" in how.upper():
        raw = quopri.decodestring(raw.encode()).decode("utf-8", "replace")
    parts = (_ESCAPED.sub(lambda found: " " if found[1] in "nN" else found[1], part) for part in _PARTS.split(raw))
    return ", ".join(part for part in (" ".join(each.split()) for each in parts) if part).removeprefix("tel:")


def _digits(phone: str) -> str:
    return re.sub(r"\D", "", phone)
