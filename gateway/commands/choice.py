"""Menus of the entries of a list. A long list has pages, and the last entry of each leads to the next.

The page is in the command of that entry (`/model more 2`), so that what it shows is checked and made anew.
"""

import re
from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from channels.buttons import MOST_ENTRIES, Choice, Entry, fits_a_button
from gateway.texts.say import Language, say

T = TypeVar("T")
_PAGE = re.compile(r"(?:(?P<words>.*)\s)?(?:more|更多) (?P<page>[1-9][0-9]{0,3})", re.DOTALL | re.IGNORECASE)
IN_PAGE = MOST_ENTRIES - 2
"""Entries of a page, beside the one that leads on and one that takes the choice back."""
LONGEST_LABEL = 100


class Asked(NamedTuple):
    """The arguments of a list: what is typed before the page, and the page, from 1."""

    words: str
    page: int

    @classmethod
    def parse(cls, arguments: str) -> "Asked":
        found = _PAGE.fullmatch(arguments.strip())
        return cls(arguments.strip(), 1) if found is None else cls((found["words"] or "").strip(), int(found["page"]))


class Page(NamedTuple, Generic[T]):
    """One page of a list."""

    shown: Sequence[T]
    pages: int
    following: int
    """The number of the next page, 1 after the last."""

    @classmethod
    def of(cls, items: Sequence[T], number: int) -> "Page[T]":
        pages = max(1, -(-len(items) // IN_PAGE))
        here = min(number, pages)
        return cls(items[IN_PAGE * (here - 1) : IN_PAGE * here], pages, here % pages + 1)


def entry(label: str, action: str, about: str = "") -> list[Entry]:
    """Return the entry, or nothing if its command is too long for the platforms."""
    return [Entry(label=label[:LONGEST_LABEL], action=action, about=about)] if fits_a_button(action) else []


def more(page: Page[T], command: str, language: Language) -> list[Entry]:
    """Return the entry that leads to the next page. `command` is what is typed for the list, without a prefix."""
    if page.pages == 1:
        return []
    label = say(
        "choice_first" if page.following == 1 else "choice_more", language, page=page.following, pages=page.pages
    )
    return entry(label, f"/{command} more {page.following}")


def choice(prompt: str, entries: Sequence[Entry], rows: int) -> Choice | None:
    """Return the menu of at most 25 entries in place of so many rows of buttons, None for no entries."""
    return Choice(prompt=prompt, entries=tuple(entries), rows=rows) if entries else None
