"""The export formats."""

import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import cast

from gateway.records.export import document, markdown
from gateway.records.export.entries import Entry, entries
from gateway.records.export.heading import Heading
from gateway.security.secrets import Secrets
from gateway.store.archive import Archive

FORMS = ("md", "json", "html")


def exported(archive: Archive, heading: Heading, form: str, secrets: Secrets) -> Iterator[str]:
    """Return the export in pieces; `form` is one of FORMS."""
    if form == "json":
        return document.written(heading, archive, secrets)
    told = entries(archive, heading.chat, secrets)
    return markdown.written(heading, told) if form == "md" else _page()(heading, told)


def _page() -> Callable[[Heading, Iterable[Entry]], Iterator[str]]:
    """Import the HTML renderer on first use, as rendering Markdown needs imports that are otherwise not loaded."""
    written: object = importlib.import_module("gateway.records.export.page").written
    return cast(Callable[[Heading, Iterable[Entry]], Iterator[str]], written)
