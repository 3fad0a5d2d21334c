"""The name of a chat's own folders: its workspace, its memory."""

import re
from hashlib import sha256
from pathlib import Path

from channels.base import ChatKey

LONGEST_NAME = 100
"""Characters of a chat's key in the name."""


def folder_name(chat: ChatKey) -> str:
    """No two keys share it, and a person can read it: `telegram_42_-1001_7` stands for its key alone, and what had to
    be altered or cut, or has capitals (some disks see none), ends with a digest."""
    key = str(chat)
    name = re.sub("[^A-Za-z0-9-]", "_", key)
    if len(key) > LONGEST_NAME or not re.fullmatch("[a-z0-9:-]*", key):
        return f"{name[:LONGEST_NAME]}.{sha256(key.encode(errors='surrogatepass')).hexdigest()[:16]}"
    return name


def workspace_of(home: Path, chat: ChatKey) -> Path:
    """A chat's own folder; a thread has one of its own."""
    return home / "workspaces" / folder_name(chat)
