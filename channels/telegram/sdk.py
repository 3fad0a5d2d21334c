"""The used part of python-telegram-bot, imported without the packages that only other users of it need.

Its Passport decrypts with cryptography, and httpx, which it imports for a client that Parley replaces, has a command
line. Both go on where these are not installed. With them the import takes 12 MB more, and twice as long.
"""

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_UNUSED = frozenset({"cryptography", "httpx._main"})


class _NotInstalled(MetaPathFinder):
    """Lets packages count as not installed in the thread that made it; others import them at the same time."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in _UNUSED and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"{fullname} is not imported for python-telegram-bot", name=fullname)
        return None


@contextmanager
def _without_unused() -> Iterator[None]:
    finder = _NotInstalled()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


with _without_unused():
    from telegram import Bot, InputFile, InputMediaAudio, InputMediaDocument, InputMediaPhoto
    from telegram.error import (
        BadRequest,
        ChatMigrated,
        Conflict,
        Forbidden,
        InvalidToken,
        NetworkError,
        TelegramError,
    )
    from telegram.request import BaseRequest, RequestData

__all__ = [
    "BadRequest",
    "BaseRequest",
    "Bot",
    "ChatMigrated",
    "Conflict",
    "Forbidden",
    "InputFile",
    "InputMediaAudio",
    "InputMediaDocument",
    "InputMediaPhoto",
    "InvalidToken",
    "NetworkError",
    "RequestData",
    "TelegramError",
]
