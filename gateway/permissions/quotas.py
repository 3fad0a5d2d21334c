"""Disk and memory quotas of chats and users. Everything here blocks."""

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from weakref import WeakValueDictionary

from msgspec.structs import astuple
from pydantic import JsonValue

from agent_core.file_lock import Watched, file_locked
from agent_core.json_text import read_json
from agent_core.sandbox.limits import MemoryPool
from agent_core.sandbox.usage import Usage, usage_of
from agent_core.versions.group import write_json
from agent_core.workspace.keeper import Allowance
from gateway.settings.limits import MB, QuotaSettings

PEOPLE = "people.json"
"""Bytes and files that each user has added to each chat. Files of earlier versions hold the bytes alone."""

People = dict[str, dict[str, Usage]]
Accounts = Callable[[str], Sequence[str]]
"""Returns a user's account in a chat as `platform:id`, by the id, and then the other accounts linked with it."""


class Quotas:
    """Usage per user in all chats, kept in a file in `folder`."""

    def __init__(self, folder: Path, settings: Callable[[], QuotaSettings]) -> None:
        """`settings` returns those in force."""
        self.settings = settings
        self._file = Watched(folder / PEOPLE)
        self._lock = threading.Lock()
        self._people: People = {}
        self._pools: WeakValueDictionary[tuple[str, str], MemoryPool] = WeakValueDictionary()

    def filled_by(self, accounts: Iterable[str]) -> Usage:
        """Return the usage of a user's accounts in all chats."""
        with self._lock:
            known = self._known()
            return sum((each for account in accounts for each in known.get(account, {}).values()), Usage())

    def note(self, account: str, chat: str, by: Usage, whole: Usage) -> None:
        """Add a call's change to an account's usage in a chat, clamped between 0 and `whole`, the chat's total."""
        with self._lock, file_locked(self._file.lock):
            known = self._known()
            theirs = known.setdefault(account, {})
            new = theirs.get(chat, Usage()) + by
            theirs[chat] = Usage(_within(new.bytes, whole.bytes), _within(new.files, whole.files))
            written = {name: {at: astuple(each) for at, each in chats.items()} for name, chats in known.items()}
            write_json(self._file.path, written)

    def pool(self, whose: str, name: str, mb: int) -> MemoryPool:
        """Return the memory pool that programs share; the same object as long as a program uses it."""
        with self._lock:
            pool = self._pools.setdefault((whose, name), MemoryPool(whose, mb * MB))
        pool.most = mb * MB
        return pool

    def _known(self) -> People:
        if self._file.has_changed():
            self._people = _read(self._file.path)
        return self._people


def filled_by_people(folder: Path) -> dict[str, int]:
    """Return the bytes each user has filled in all chats. Works without a running instance."""
    return {person: sum(each.bytes for each in chats.values()) for person, chats in _read(folder / PEOPLE).items()}


class ChatQuota:
    """Implements agent_core's `Quota` for one chat, whose files are in `folders`."""

    def __init__(self, quotas: Quotas, chat: str, accounts: Accounts, folders: tuple[Path, ...]) -> None:
        self._quotas = quotas
        self._chat = chat
        self._accounts = accounts
        self._folders = folders

    def used(self) -> Usage:
        return sum((usage_of(folder) for folder in self._folders), Usage())

    def room(self, person: str | None) -> Allowance:
        settings, used = self._quotas.settings(), self.used()
        left = [settings.chat_mb * MB - used.bytes, _free(self._folders[0]) - settings.reserve_mb * MB]
        files = [settings.chat_files - used.files]
        pools = [self._quotas.pool("this chat", self._chat, settings.chat_memory_mb)]
        if person is not None:
            accounts = self._accounts(person)
            filled = self._quotas.filled_by(accounts)
            left.append(settings.person_mb * MB - filled.bytes)
            files.append(settings.person_files - filled.files)
            pools.append(self._quotas.pool("this person in all chats", min(accounts), settings.person_memory_mb))
        return Allowance(max(0, min(left)), max(0, min(files)), tuple(pools))

    def grew(self, person: str | None, by: int, files: int) -> None:
        if person is not None and (by or files):
            self._quotas.note(self._accounts(person)[0], self._chat, Usage(by, files), self.used())


def _within(value: int, most: int) -> int:
    return min(max(0, value), most)


def _read(file: Path) -> People:
    try:
        found = read_json(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return {person: _in_chats(chats) for person, chats in found.items()} if isinstance(found, dict) else {}


def _in_chats(chats: JsonValue) -> dict[str, Usage]:
    known = {chat: _usage(each) for chat, each in chats.items()} if isinstance(chats, dict) else {}
    return {chat: usage for chat, usage in known.items() if usage is not None}


def _usage(value: JsonValue) -> Usage | None:
    """Return a usage as it is stored; None for what is none."""
    match value:
        case int():
            return Usage(value)
        case [int(in_bytes), int(files)]:
            return Usage(in_bytes, files)
        case _:
            return None


def _free(folder: Path) -> int:
    there = next(each for each in (folder, *folder.parents) if each.exists())
    about = os.statvfs(there)
    return about.f_bavail * about.f_frsize
