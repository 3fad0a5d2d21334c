"""Names of a chat's folders for its workspace and memory."""

import re
from hashlib import sha256
from pathlib import Path

from channels.base import ChatKey

LONGEST_NAME = 100
"""Characters of a chat's key that are kept in the name."""


def folder_name(chat: ChatKey) -> str:
    """Return the name of a chat's folder, readable and unique to its key.

    A plain key keeps its form: `telegram_42_-1001_7`. One with altered or cut characters, or with capitals (some file
    systems ignore case), gets a digest at the end.
    """
    key = str(chat)
    name = re.sub("[^A-Za-z0-9-]", "_", key)
    if len(key) > LONGEST_NAME or not re.fullmatch("[a-z0-9:-]*", key):
        return f"{name[:LONGEST_NAME]}.{sha256(key.encode(errors='surrogatepass')).hexdigest()[:16]}"
    return name


def key_of(name: str) -> str:
    """Return the key of the chat that owns a folder, or the folder's name if the key cannot be told from it."""
    return name if "." in name else name.replace("_", ":")


def workspace_of(home: Path, chat: ChatKey) -> Path:
    """Return a chat's workspace folder. Each thread has its own."""
    return home / "workspaces" / folder_name(chat)
