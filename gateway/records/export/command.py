"""`parley export CHAT`: writes a chat's history to standard output or a file. Read-only; Parley may be running."""

import time
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from zoneinfo import ZoneInfo

from gateway.errors import ParleyError
from gateway.records.export.files import write_private
from gateway.records.export.forms import exported
from gateway.records.export.heading import Heading
from gateway.security.printing import print_pieces
from gateway.settings.settings import load_settings
from gateway.store.archive import Archive


def run(environ: Mapping[str, str], cwd: Path, given: Namespace) -> int:
    """Export a chat. Returns the exit code, or raises ParleyError."""
    settings = load_settings(environ, cwd)
    with Archive.open(settings.home) as archive:
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
