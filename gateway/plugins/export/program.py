"""Exports a chat: `parley export CHAT`, which only reads, and the formats that it shares with /export."""

import importlib
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast
from zoneinfo import ZoneInfo

from gateway.errors import ParleyError
from gateway.plugins.export import json_document, markdown
from gateway.plugins.export.entries import Entry, entries
from gateway.plugins.export.heading import Heading
from gateway.security.printing import print_pieces
from gateway.security.private_file import write_private
from gateway.security.secrets import Secrets
from gateway.settings.settings import load_settings
from gateway.store.archive import Archive


def exported(archive: Archive, heading: Heading, form: str, secrets: Secrets) -> Iterator[str]:
    """Return the export in pieces; `form` is one of FORMS."""
    if form == "json":
        return json_document.written(heading, archive, secrets)
    told = entries(archive, heading.chat, secrets)
    return markdown.written(heading, told) if form == "md" else _page()(heading, told)


def write_chat(home: Path, database: str | None, file: Path, heading: Heading, form: str, secrets: Secrets) -> bool:
    """Write the export to a file, replacing it. Returns False if the chat has no messages. Blocks."""
    with Archive.open(home, database) as archive:
        if not archive.sessions(heading.chat):
            return False
        write_private(file, exported(archive, heading, form, secrets))
    return True


def _page() -> Callable[[Heading, Iterable[Entry]], Iterator[str]]:
    """Import the HTML renderer on first use, as rendering Markdown needs imports that are otherwise not loaded."""
    written: object = importlib.import_module("gateway.plugins.export.html_document").written
    return cast(Callable[[Heading, Iterable[Entry]], Iterator[str]], written)


def run(environ: Mapping[str, str], cwd: Path, given: Namespace) -> int:
    """Export a chat. Returns the exit code, or raises ParleyError."""
    settings = load_settings(environ, cwd)
    with Archive.open(settings.home, settings.database) as archive:
        chat = _chosen(archive, given.chat)
        heading = Heading(chat, settings.ai_name, ZoneInfo(settings.timezone), time.time())
        pieces = exported(archive, heading, given.form, settings.secrets)
        if given.out is None:
            print_pieces(pieces, settings.secrets)
        else:
            write_private(cwd / given.out, pieces)
    return 0


def _chosen(archive: Archive, part: str | None) -> str:
    """Return the one chat whose key equals, starts with, or contains `part`. Raises ParleyError."""
    chats = archive.chats()
    listed = "\n".join(chats) or "none: nothing was said yet"
    if part is None:
        raise ParleyError(f"Say which chat. There are:\n{listed}")
    for fits in (part.__eq__, lambda chat: chat.startswith(part), lambda chat: part in chat):
        found = [chat for chat in chats if fits(chat)]
        if len(found) == 1:
            return found[0]
        if found:
            listed = "\n".join(found)
            raise ParleyError(f"{part} fits several chats; say more of the one that you mean:\n{listed}")
    raise ParleyError(f"There is no chat {part}. There are:\n{listed}")
