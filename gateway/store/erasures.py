"""Erases what a person said, and everything of their direct chats, from all tables.

Rows that only say that something happened stay without its words: the ids of messages, so that none is answered twice,
and runs with their cost.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from agent_core.messages import NotificationMessage, UserMessage, user
from agent_core.origin import NOT_KNOWN, Origin
from channels.base import ChatKey, MessageReceived, Sender
from gateway.store import rewrites, search
from gateway.store.connection import Connection
from gateway.store.rows import inbox_seqs
from gateway.store.table import Table, chat_of, first_readable, readable
from gateway.store.topics import Topic
from gateway.store.transcript import numbered_message
from gateway.store.unreadable import objects_in, stored_object, stored_texts

ERASED = "(erased)"
"""Stands for the text of an erased message."""
OF_CHAT = (
    "transcript",
    "approvals",
    "rules",
    "tasks",
    "jobs",
    "firings",
    "job_targets",
    "heartbeats",
    "chat_skills",
    "set_aside",
    "owed",
    "conversations",
    "further_messages",
)
"""Tables of which all rows of a direct chat are deleted."""
_JOBS_IN = "SELECT id FROM jobs WHERE chat = ?"
_POSTS_ELSEWHERE = """
DELETE FROM outbox WHERE state IN ('sent', 'failed') AND EXISTS (
  SELECT 1 FROM jobs WHERE jobs.chat = ? AND jobs.person = coalesce(?, jobs.person) AND jobs.chat != outbox.chat AND (
    substr(outbox.run, 1, length(jobs.id) + 5) = 'job-' || jobs.id || '-' OR EXISTS (
      SELECT 1 FROM job_targets WHERE job_targets.job = jobs.id
      AND substr(outbox.run, 1, length(job_targets.id) + 5) = 'ask-' || job_targets.id || '-'
    )
  )
)
"""
"""Deletes what jobs have posted in other chats, and the questions to these, which tell the words of the job."""
_TOLD_IN = (
    "SELECT DISTINCT jobs.id, firings.chat FROM firings JOIN jobs ON jobs.id = firings.job WHERE jobs.chat >= :from"
    " AND jobs.chat < :to AND jobs.person = :person AND firings.chat != jobs.chat"
)
"""Finds a person's jobs that have posted in other chats, each with one of these."""
_OF_PERSON = ("approvals", "rules", "tasks", "jobs", "heartbeats")
"""Tables of which a person's rows are deleted in groups."""
UNANSWERED = 60.0
"""Seconds after which a command from one node to another is left over from one that died."""
_OF_RUN = ("tool_calls", "steps", "owed")
"""Tables of which the rows of a person's runs are deleted."""


class Account(Struct, frozen=True):
    """An account of a person on a platform."""

    chats: str
    """How the keys of its chats begin: the platform, and on some the workspace, with a colon at the end."""
    id: str

    @classmethod
    def parse(cls, principal: str) -> "Account":
        """Parse `platform:id` or `platform:workspace:id`. Raises ValueError."""
        place, _, person = principal.rpartition(":")
        if not place or not person:
            raise ValueError(principal)
        return cls(f"{place}:", person)

    @property
    def values(self) -> dict[str, str]:
        """The values of queries for the rows of the account: `:from`, `:to` and `:person`."""
        return {"from": self.chats, "to": f"{self.chats[:-1]};", "person": self.id}

    @property
    def platform(self) -> str:
        return self.chats.partition(":")[0]


class Theirs(Struct, frozen=True):
    """The chats and the messages of a person."""

    chats: tuple[ChatKey, ...]
    seqs: tuple[int, ...]
    """The numbers of inbox items that are done."""
    is_busy: bool
    """True while something runs for them."""
    told: tuple[ChatKey, ...] = ()
    """Other chats, whose agents know what the person's jobs have posted there."""


class Forgotten(Struct, frozen=True):
    """A person whose data is erased, with one of their accounts.

    Attributes:
        account: The account; its `id` is the person's on the platform.
        direct: The direct chats of the account: everything of these is erased.
        groups: The groups where it wrote: what it said and asked for is erased there.
    """

    account: Account
    direct: tuple[ChatKey, ...]
    groups: tuple[ChatKey, ...]

    @property
    def principal(self) -> str:
        """The account as `platform:id` or `platform:workspace:id`."""
        return f"{self.account.chats}{self.account.id}"


class OwedErasure(Struct, frozen=True):
    """Rows that a plugin has yet to erase, as it was not there, or did not say how, when all others were erased."""

    plugin: str
    at: float
    """When the erasure was confirmed."""
    forgotten: Forgotten


ErasedToo = Callable[[Connection, Forgotten], None]
"""Erases the rows of a plugin, in the transaction that erases all others."""


class Erasures(Table):
    """Erasures, and which of them are complete."""

    async def of(self, account: Account) -> Theirs:
        """Return the chats and messages of a person's account."""
        said = (
            "SELECT seq, chat, state FROM inbox WHERE chat >= :from AND chat < :to"
            " AND json_extract(payload, '$.sender.id') = :person"
        )
        runs = "SELECT DISTINCT chat FROM runs WHERE chat >= :from AND chat < :to AND person = :person"
        values = account.values

        def read(connection: Connection) -> Theirs:
            rows = connection.execute(said, values).fetchall()
            chats = {chat for _, chat, _ in rows} | {chat for (chat,) in connection.execute(runs, values)}
            running = connection.execute(f"{runs} AND state = 'running'", values).fetchone()
            seqs = tuple(seq for seq, _, state in rows if state == "done")
            found = tuple(readable(((chat,) for chat in sorted(chats)), chat_of, "inbox"))
            told = tuple(ChatKey.parse(chat) for chat in sorted({chat for _, chat in _told_in(connection, account)}))
            return Theirs(found, seqs, running is not None, told)

        return await self._reader.run(read)

    async def files(self, chats: Sequence[ChatKey]) -> list[str]:
        """Return the paths and references of the files that were sent and received in these chats."""
        queries = ("SELECT payload FROM inbox WHERE chat = ?", "SELECT body FROM outbox WHERE chat = ?")

        def read(connection: Connection) -> list[str]:
            texts = (row for query in queries for chat in chats for row in connection.execute(query, (str(chat),)))
            return [name for names in readable(texts, _names_of_files, "inbox and outbox") for name in names]

        return await self._reader.run(read)

    async def erase(
        self, account: Account, theirs: Theirs, direct: Sequence[ChatKey], at: float, plugins: Mapping[str, ErasedToo]
    ) -> int:
        """Erase a person's words everywhere and all rows of their direct chats. Returns the number of messages.

        `plugins` erase rows of their own; what others that have tables hold of the person is owed from then on. Raises
        what one of them raises; then nothing was erased by this. SQLite's search index is emptied; `Search.catch_up`
        builds it again.
        """
        groups, now = [chat for chat in theirs.chats if chat not in direct], self._clock.time()

        def change(connection: Connection) -> int:
            forgotten = Forgotten(account, tuple(direct), tuple(groups))
            for erased in plugins.values():
                erased(connection, forgotten)
            for plugin in _with_tables(connection):
                if plugin not in plugins:
                    _owe(connection, OwedErasure(plugin, at, forgotten))
            blanked = [_blank(connection, seq) for seq in theirs.seqs]
            connection.execute("DELETE FROM page_commands WHERE at < ?", (now - UNANSWERED,))
            connection.execute("DELETE FROM page_links WHERE principal = ?", (f"{account.chats}{account.id}",))
            connection.execute("DELETE FROM person_zones WHERE principal = ?", (f"{account.chats}{account.id}",))
            self._changed(connection, Topic.ZONES)
            connection.execute("DELETE FROM strangers WHERE principal = ?", (f"{account.chats}{account.id}",))
            for each in {*theirs.chats, *theirs.told}:
                self._changed(connection, Topic.ERASED, str(each))
            told = _blank_notes(connection, account)
            rows = [row for chat in groups for row in _erase_in_group(connection, str(chat), account.id, theirs.seqs)]
            for chat in map(str, direct):
                _erase_chat(connection, chat)
            search.drop(connection, direct, [*told, *rows])
            rewrites.note(connection)
            return sum(blanked)

        return await self._writer.submit(change)

    async def with_tables(self) -> list[str]:
        """Return the names of the plugins that have tables in this store, those that are gone included."""
        return await self._reader.run(_with_tables)

    async def owed(self, plugins: Collection[str]) -> list[OwedErasure]:
        """Return what these plugins have yet to erase, the oldest first."""

        def read(connection: Connection) -> list[OwedErasure]:
            rows = connection.execute("SELECT who, plugin, at, direct, shared FROM owed_erasures ORDER BY at")
            found = list(readable(rows.fetchall(), _owed_erasure, "owed_erasures"))
            return [each for each in found if each.plugin in plugins]

        return await self._reader.run(read)

    async def erase_owed(self, owed: OwedErasure, erased: ErasedToo) -> None:
        """Let a plugin erase what it has yet to erase. Raises what that raises; then it is owed still."""

        def change(connection: Connection) -> None:
            erased(connection, owed.forgotten)
            query = "DELETE FROM owed_erasures WHERE plugin = ? AND who = ? AND at = ?"
            connection.execute(query, (owed.plugin, owed.forgotten.principal, owed.at))
            rewrites.note(connection)

        await self._writer.submit(change)

    async def scrub(self) -> None:
        """Remove what is left of deleted rows on the disk, on PostgreSQL as far as nobody has to wait for it.

        Raises sqlite3.Error, for example if there is no room for a copy.
        """

        await self._writer.database.scrub()  # between two transactions: it cannot be part of one

    async def rewrite(self) -> list[str]:
        """Rewrite tables whose files still hold erased words. Returns those that are left. Raises sqlite3.Error."""
        return await self._writer.database.rewrite()

    async def complete(self, who: str, at: float) -> None:
        """Record that an erasure is complete."""

        def change(connection: Connection) -> None:
            connection.execute("INSERT INTO erasures (who, at) VALUES (?, ?) ON CONFLICT DO NOTHING", (who, at))

        await self._writer.submit(change)

    async def completed(self) -> set[tuple[str, float]]:
        """Return the complete erasures: of whom, and when they were confirmed."""

        def read(connection: Connection) -> set[tuple[str, float]]:
            return {(who, at) for who, at in connection.execute("SELECT who, at FROM erasures")}

        return await self._reader.run(read)


def _with_tables(connection: Connection) -> list[str]:
    found = connection.execute("SELECT DISTINCT plugin FROM plugin_migrations ORDER BY plugin")
    return [str(plugin) for (plugin,) in found]


def _owe(connection: Connection, owed: OwedErasure) -> None:
    direct, shared = (json.dumps(list(map(str, each))) for each in (owed.forgotten.direct, owed.forgotten.groups))
    connection.execute(
        "INSERT INTO owed_erasures (plugin, who, at, direct, shared) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (owed.plugin, owed.forgotten.principal, owed.at, direct, shared),
    )


def _owed_erasure(row: tuple[str, str, float, str, str]) -> OwedErasure:
    who, plugin, at, *chats = row
    direct, shared = (tuple(map(ChatKey.parse, stored_texts(each))) for each in chats)
    return OwedErasure(plugin, at, Forgotten(Account.parse(who), direct, shared))


def _blank(connection: Connection, seq: int) -> bool:
    """Replace an inbox item by an empty message of nobody with the same id. Returns True if it was a message."""
    row = connection.execute("SELECT event_id, chat, payload FROM inbox WHERE seq = ?", (seq,)).fetchone()
    event_id, chat, payload = row
    nobody = MessageReceived(
        event_id=event_id,
        chat=ChatKey.parse(chat),
        sender=Sender(id="", name=""),
        at=0,
        text="",
        message_id="",
    )
    connection.execute("UPDATE inbox SET payload = ?, message_id = NULL WHERE seq = ?", (nobody.model_dump_json(), seq))
    return first_readable([(payload,)], _type, "inbox") == "message"


def _told_in(connection: Connection, account: Account) -> list[tuple[str, str]]:
    return [(job, chat) for job, chat in connection.execute(_TOLD_IN, account.values).fetchall()]


def _blank_notes(connection: Connection, account: Account) -> list[int]:
    """Erase what agents of other chats know of a person's jobs. Returns the numbers of the rows of the transcript."""
    told, erased = _told_in(connection, account), []
    jobs = {job for job, _ in told}
    query = "SELECT seq, message FROM transcript WHERE chat = ? AND json_extract(message, '$.role') = 'notification'"
    for chat in {chat for _, chat in told}:
        for row, message in readable(connection.execute(query, (chat,)).fetchall(), numbered_message, "transcript"):
            if isinstance(message, NotificationMessage) and message.data.get("job") in jobs:
                blank = message.model_copy(
                    update={"text": ERASED, "quoted": "", "data": {}, "origin": _unnamed(message.origin)}
                )
                connection.execute("UPDATE transcript SET message = ? WHERE seq = ?", (blank.model_dump_json(), row))
                erased.append(row)
    return erased


def _unnamed(origin: Origin) -> Origin:
    """Return an origin that is untrusted where this one is, and names nobody."""
    return NOT_KNOWN if origin.is_tainted else origin


def _type(row: tuple[str]) -> str:
    return str(stored_object(row[0])["type"])


def _names_of_files(row: tuple[str]) -> list[str]:
    files = objects_in(stored_object(row[0]).get("attachments"))
    return [str(file[name]) for file in files for name in ("path", "reference") if file.get(name)]


def _erase_chat(connection: Connection, chat: str) -> None:
    unreadable = "SELECT seq FROM inbox WHERE chat = ? AND NOT json_valid(payload)"
    for (seq,) in connection.execute(unreadable, (chat,)).fetchall():
        _blank(connection, seq)  # nobody can tell any more whose it was; nobody else writes there
    _forget_runs(connection, "SELECT run, session FROM runs WHERE chat = ?", (chat,))
    connection.execute("DELETE FROM session_titles WHERE chat = ?", (chat,))
    connection.execute(_POSTS_ELSEWHERE, (chat, None))
    for table in ("firings", "job_targets"):  # those in other chats, too
        connection.execute(f"DELETE FROM {table} WHERE job IN ({_JOBS_IN})", (chat,))  # noqa: S608
    for table in OF_CHAT:
        connection.execute(f"DELETE FROM {table} WHERE chat = ?", (chat,))  # noqa: S608
    connection.execute("DELETE FROM outbox WHERE chat = ? AND state IN ('sent', 'failed')", (chat,))


def _erase_in_group(connection: Connection, chat: str, person: str, seqs: Iterable[int]) -> list[int]:
    """Erase a person's words in a group. Returns the numbers of the rows of the transcript in which they stood."""
    _forget_runs(connection, "SELECT run, session FROM runs WHERE chat = ? AND person = ?", (chat, person))
    unseen = "SELECT run FROM runs WHERE chat = ? AND person = ? AND kind != 'chat'"
    connection.execute(f"DELETE FROM transcript WHERE run IN ({unseen})", (chat, person))  # noqa: S608
    jobs = "SELECT id FROM jobs WHERE chat = ? AND person = ?"
    connection.execute(_POSTS_ELSEWHERE, (chat, person))
    for table in ("firings", "job_targets"):
        connection.execute(f"DELETE FROM {table} WHERE job IN ({jobs})", (chat, person))  # noqa: S608
    for table in _OF_PERSON:
        connection.execute(f"DELETE FROM {table} WHERE chat = ? AND person = ?", (chat, person))  # noqa: S608
    theirs, erased = set(seqs), []
    query = "SELECT seq, message FROM transcript WHERE chat = ? AND json_extract(message, '$.role') = 'user'"
    for row, message in readable(connection.execute(query, (chat,)).fetchall(), numbered_message, "transcript"):
        if isinstance(message, UserMessage) and theirs.intersection(inbox_seqs([message.id])):
            blank = user(ERASED, origin=_unnamed(message.origin)).model_copy(
                update={"id": message.id, "created_at": message.created_at}
            )
            connection.execute("UPDATE transcript SET message = ? WHERE seq = ?", (blank.model_dump_json(), row))
            erased.append(row)
    return erased


def _forget_runs(connection: Connection, query: str, values: Sequence[str]) -> None:
    """Delete what these runs did, and the titles of their sessions. Their cost stays."""
    for run, session in connection.execute(query, values).fetchall():
        for table in _OF_RUN:
            connection.execute(f"DELETE FROM {table} WHERE run = ?", (run,))  # noqa: S608
        connection.execute("DELETE FROM session_titles WHERE session = ?", (session,))
        connection.execute("UPDATE runs SET error = NULL WHERE run = ?", (run,))
