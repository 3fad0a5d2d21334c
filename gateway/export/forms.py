"""The forms in which a chat can be had."""

import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import cast

from gateway.export import document, markdown
from gateway.export.entries import Entry, entries
from gateway.export.heading import Heading
from gateway.secrets import Secrets
from gateway.store.archive import Archive

FORMS = ("md", "json", "html")


def exported(archive: Archive, heading: Heading, form: str, secrets: Secrets) -> Iterator[str]:
    """The whole chat, piece by piece; `form` is one of FORMS."""
    if form == "json":
        return document.written(heading, archive, secrets)
    told = entries(archive, heading.chat, secrets)
    return markdown.written(heading, told) if form == "md" else _page()(heading, told)


def _page() -> Callable[[Heading, Iterable[Entry]], Iterator[str]]:
    """By name: what makes Markdown a page is imported where one is wanted, or there is a page anyway."""
    written: object = importlib.import_module("gateway.export.page").written
    return cast(Callable[[Heading, Iterable[Entry]], Iterator[str]], written)
