"""The text about a document for a model: its pages with their addresses, and what was left out."""

from collections.abc import Iterator

from gateway.plugins.documents.sandboxed import Found, NotRead, Shown
from gateway.texts.say import Language, say

PAGES_AT_ONCE = 30
"""Pages named in the call for more."""

_WHY = {
    "broken": "documents_why_broken",
    "cells": "documents_why_cells",
    "encrypted": "documents_why_encrypted",
    "missing": "documents_why_missing",
    "nested": "documents_why_nested",
    "no_page": "documents_why_no_page",
    "no_sandbox": "documents_why_no_sandbox",
    "no_sheet": "documents_why_no_sheet",
    "old_office": "documents_why_old_office",
    "program": "documents_why_program",
    "too_large": "documents_why_too_large",
    "too_slow": "documents_why_too_slow",
    "unknown": "documents_why_unknown",
    "unseen": "documents_why_unseen",
}
"""The text for each reason why a document is not read."""


def pages_in(found: Found) -> str:
    """Return the pages that were read."""
    return "\n".join([_head(found), *found.facts, *map(_page, found.pages), *_rest(found)])


def places_in(found: Found, words: str) -> str:
    """Return the places that were found."""
    lines = [f"{_address(each, found)}: {each.text}" for each in found.pages]
    if not lines:
        lines = [f"No {found.unit} has all of these words: {words}. Fewer words, or other ones, find more."]
    if found.why:
        lines.append(
            f"[{_ENDED.get(found.why, 'The search took too long, and ended')} after {found.unit} {found.done}.]"
        )
    return "\n".join([_head(found), *lines])


_ENDED = {"room": "There are more places", "broken": "The file is damaged, and could not be read,"}


def why_not(error: NotRead, name: str, language: Language) -> str:
    """Return the sentence on why a document was not read."""
    return say("documents_not_read", language, name=name, reason=say(_WHY[error.reason], language))


def _head(found: Found) -> str:
    if found.total is None:
        return found.kind
    return f"{found.kind}, {found.total} {found.unit}{'' if found.total == 1 else 's'}"


def _address(page: Shown, found: Found) -> str:
    """Return a page's address, with its number where that is not to be seen in it."""
    return page.label if page.label.endswith(f" {page.number}") else f"{page.label} ({found.unit} {page.number})"


def _page(page: Shown) -> str:
    cut = f"\n[{page.cut} more characters here are left out; search_document finds what is in them]" if page.cut else ""
    return f"--- {page.label}\n{page.text}{cut}"


def _rest(found: Found) -> Iterator[str]:
    if found.why == "broken":
        yield "[The rest is damaged, and could not be read.]"
    if not found.why or found.why == "broken":
        return
    first, total = found.done + 1, found.total
    last = first + PAGES_AT_ONCE - 1 if total is None else min(first + PAGES_AT_ONCE - 1, total)
    if total is not None and first > total:
        return
    slow = "Reading took too long and ended here. " if found.why == "time" else ""
    some = f"{found.unit}s from {first} on" if total is None else f"{found.unit}s {first} to {total}"
    yield f'[{slow}The {some} are not shown: use read_document with pages="{first}-{last}".]'
