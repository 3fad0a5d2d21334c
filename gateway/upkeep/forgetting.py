"""Erases what a person said and what is kept of their direct chats: rows, files, facts, versions and audit entries.

A confirmed erasure is first written to a file that backups do not contain, and noted in the store when it is complete.
So it continues at the next start after a crash, and it is repeated once an older backup has been restored. What is in
the tables of a plugin that was not there is erased at the first start at which it is.
"""

import asyncio
import json
import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import date, timedelta
from pathlib import Path

import structlog
from msgspec import Struct
from msgspec.json import decode
from msgspec.structs import asdict

from agent_core.background import Background
from agent_core.clock import Clock
from agent_core.file_lock import Held
from agent_core.json_text import UNREADABLE
from channels.base import ChatKey
from channels.capabilities import KeepsFiles
from channels.files import delete_whole
from gateway.delivery.delivery import Delivery
from gateway.delivery.outgoing import FOLDER as OUTGOING
from gateway.permissions.workspaces import folder_name
from gateway.records.audit import AuditLog
from gateway.records.audit_entry import Content
from gateway.store.erasures import Account, ErasedToo, OwedErasure
from gateway.store.store import Store
from gateway.upkeep.kept import kept

FILE = "erasures.jsonl"
LOCK = "erasures.lock"
"""Held by the process that carries out an erasure, as several may share the home and start at the same time."""
PATIENCE = 60.0
"""Seconds for which a process waits for another one's erasure."""
LOOK_EVERY = 0.1
"""Seconds."""
FOLDERS = ("workspaces", "memory", "versions")
"""Each has a folder for each chat."""
UPLOADS = "uploads"

log = structlog.get_logger(__name__)


class Erasure(Struct, frozen=True):
    """A confirmed erasure."""

    who: str
    """The account, as `platform:id` or `platform:workspace:id`."""
    at: float
    by: str
    """Who confirmed it, as `platform:id`."""


class Holder(Struct, frozen=True):
    """A backup that may still hold the data."""

    name: str
    until: str | None
    """The day after which it is deleted; None if it stays until somebody deletes it."""


class Erased(Struct, frozen=True):
    """The result of an erasure."""

    messages: int
    chats: int
    entries: int
    """Audit entries."""


class PluginKeepsRows(RuntimeError):
    """A plugin could not erase its rows, so none were erased. `plugin` is its name."""

    def __init__(self, plugin: str) -> None:
        super().__init__(f"the plugin {plugin} could not erase its rows")
        self.plugin = plugin


class Elsewhere(Struct, frozen=True):
    """The other places that hold something of people."""

    plugins: Mapping[str, ErasedToo]
    """Those that erase rows of their own, by name. Each raises PluginKeepsRows if it cannot."""
    drop: Callable[[Sequence[ChatKey]], Awaitable[None]]
    """Drops what the memory of the process holds of a person who wrote, or whose jobs posted, in these chats."""


class StillBusy(Exception):
    """Something is running for the person; it would write on."""


class Forgetting:
    """Carries out erasures, one at a time."""

    def __init__(
        self,
        home: Path,
        store: Store,
        delivery: Delivery,
        audit: AuditLog,
        clock: Clock,
        *,
        elsewhere: Elsewhere,
        backups: Callable[[], int],
    ) -> None:
        """Create it.

        Args:
            home: The folder of what Parley keeps.
            store: The store.
            delivery: Says which chats are groups.
            audit: The audit file.
            clock: The time.
            elsewhere: What else holds something of people.
            backups: Returns the number of nightly backups that are kept.
        """
        self._home = home
        self._store = store
        self._delivery = delivery
        self._audit = audit
        self._clock = clock
        self._elsewhere = elsewhere
        self._plugins = elsewhere.plugins
        self._backups = backups
        self._one_at_a_time = asyncio.Lock()
        self._indexing = Background("indexing after an erasure failed")

    async def erase(self, who: str, by: str) -> Erased:
        """Erase what a person said, as `by` confirmed.

        Raises StillBusy while something runs for them or another process erases, and OSError or sqlite3.Error if the
        disk fails; then the rest is erased at the next start. So it is after PluginKeepsRows.
        """
        async with self._one_at_a_time, self._turn() as is_ours:
            if not is_ours or (await self._store.erasures.of(Account.parse(who))).is_busy:
                raise StillBusy(who)
            erasure = Erasure(who, self._clock.time(), by)
            await asyncio.to_thread(self._confirm, erasure)
            erased = await self._carry_out(erasure)
            self._indexing.start(self._store.search.catch_up())  # the index was emptied
            return erased

    async def close(self) -> None:
        """Leave the rest of the search index to the next start."""
        await self._indexing.stop()

    async def catch_up(self) -> None:
        """Carry out what a crash cut off, and repeat what a restored backup does not know. Call before messages come.

        So it is with what plugins owe that were not there. One that fails is tried again at the next start. Of several
        processes one does it.
        """
        if not (await self._open() or await self._owed()):
            return
        async with self._turn() as is_ours:
            for erasure in await self._open() if is_ours else ():
                with _tried():
                    await self._carry_out(erasure)
            for owed in await self._owed() if is_ours else ():
                with _tried():
                    await self._store.erasures.erase_owed(owed, self._plugins[owed.plugin])
                    await self._store.erasures.scrub()

    async def keepers(self) -> list[str]:
        """Return the names of the plugins whose rows are not erased, as they do not say how or are gone."""
        return [name for name in await self._store.erasures.with_tables() if name not in self._plugins]

    def holders(self) -> list[Holder]:
        """Return the backups that may hold the data, newest first. Blocks."""
        found = [Holder(file.name, self._deleted_on(file)) for file in kept(self._home)]
        from gateway.upkeep.restore import ASIDE  # noqa: PLC0415 (once somebody is forgotten)

        folders = sorted((self._home / ASIDE).glob("*/"), reverse=True)
        return [*found, *(Holder(f"{ASIDE}/{folder.name}", None) for folder in folders)]

    def _deleted_on(self, backup: Path) -> str | None:
        """Return the day on which a nightly backup is deleted, if one is made each night."""
        try:
            made = date.fromisoformat(backup.stem.removeprefix("parley-"))
        except ValueError:
            return None
        return (made + timedelta(days=nights)).isoformat() if (nights := self._backups()) else None

    async def _owed(self) -> list[OwedErasure]:
        """Return what plugins that are there have yet to erase."""
        return await self._store.erasures.owed(self._plugins.keys())

    async def _open(self) -> list[Erasure]:
        """Return the confirmed erasures that are not complete."""
        done = await self._store.erasures.completed()
        found = await asyncio.to_thread(lambda: list(confirmed(self._home)))
        return [erasure for erasure in found if (erasure.who, erasure.at) not in done]

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[bool]:
        """Carry out erasures while no other process does. Yields False if one does so for very long."""
        held, until = self._locked(), self._clock.monotonic() + PATIENCE
        while held is None and self._clock.monotonic() < until:
            await self._clock.sleep(LOOK_EVERY)
            held = self._locked()
        try:
            yield held is not None
        finally:
            if held is not None:
                held.release()

    def _locked(self) -> Held | None:
        try:
            return Held(self._home / LOCK)
        except BlockingIOError:
            return None

    async def _carry_out(self, erasure: Erasure) -> Erased:
        """Do all steps; each may be repeated."""
        account = Account.parse(erasure.who)
        theirs = await self._store.erasures.of(account)
        direct = [chat for chat in theirs.chats if self._is_direct(chat)]
        names = await self._store.erasures.files(direct)
        await asyncio.to_thread(self._delete_files, self._with_memories(direct), names)
        for chat in direct:
            if isinstance(channel := self._delivery.on(chat.platform), KeepsFiles):
                await channel.delete_files(chat)
        chats = frozenset(map(str, direct))
        entries = await self._audit.erase(lambda entry: _is_about(entry, account, chats))
        messages = await self._store.erasures.erase(account, theirs, direct, erasure.at, self._plugins)
        await self._elsewhere.drop([*theirs.chats, *theirs.told])
        await self._store.erasures.scrub()
        await self._store.erasures.complete(erasure.who, erasure.at)
        return Erased(messages, len(direct), entries)

    def _is_direct(self, chat: ChatKey) -> bool:
        return self._delivery.knows(chat) and not self._delivery.channel(chat).is_group(chat)

    def _with_memories(self, chats: Sequence[ChatKey]) -> set[ChatKey]:
        """Return the chats and those that keep their memories."""
        keepers = {chat.without_thread for chat in chats if self._shares_memory(chat)}
        return {*chats, *keepers}

    def _shares_memory(self, chat: ChatKey) -> bool:
        return self._delivery.channel(chat).limits.threads_share_memory

    def _confirm(self, erasure: Erasure) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(self._home / FILE, flags, 0o600), "a") as file:
            file.write(f"{json.dumps(asdict(erasure))}\n")
            file.flush()
            os.fsync(file.fileno())

    def _delete_files(self, chats: Iterable[ChatKey], names: Sequence[str]) -> None:
        for chat in chats:
            for folder in FOLDERS:
                delete_whole(self._home / folder / folder_name(chat))
            delete_whole(self._home / "provenance" / f"{folder_name(chat)}.json")
        for name in names:
            for parent in (self._home / OUTGOING, self._home / UPLOADS):
                path = parent / name
                if path.is_relative_to(parent) and path != parent and ".." not in path.parts:
                    delete_whole(path)


@contextmanager
def _tried() -> Iterator[None]:
    """Log an erasure at a start, whether it succeeds or not."""
    try:
        yield
    except (OSError, sqlite3.Error, PluginKeepsRows) as error:
        log.error("an erasure is not complete; the next start tries again", reason=str(error))  # noqa: TRY400
    else:
        log.info("an erasure was carried out")


def confirmed(home: Path) -> Iterator[Erasure]:
    """Yield the confirmed erasures; half a line is one whose confirmation was cut off. Raises OSError."""
    file = home / FILE
    for line in file.read_text("utf-8", "replace").splitlines() if file.exists() else ():
        try:
            erasure = decode(line, type=Erasure)
            Account.parse(erasure.who)
        except UNREADABLE:
            log.warning("a line about an erasure cannot be read", file=str(file))
        else:
            yield erasure


def _is_about(entry: Content, account: Account, chats: frozenset[str]) -> bool:
    """Return True for what was done for a person, and in their direct chats."""
    is_theirs = entry.get("person") == f"{account.platform}:{account.id}"
    chat = str(entry.get("chat"))
    return chat in chats or (is_theirs and chat.startswith(account.chats))
