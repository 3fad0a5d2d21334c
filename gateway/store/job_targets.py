"""The table of the other chats in which jobs post."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from channels.base import ChatKey
from gateway.store.connection import Connection
from gateway.store.owed import Owed
from gateway.store.value_table import RowCodec, ValueTable


class TargetState(StrEnum):
    """The state of a chat as a target: it takes the posts of a job, or not."""

    WANTED = "wanted"
    """It was not asked yet."""
    ASKED = "asked"
    OPEN = "open"
    REFUSED = "refused"
    """Somebody there said no, or ended it."""
    GONE = "gone"
    """It takes no messages of Parley any more."""


@dataclass(frozen=True)
class JobTarget:
    """Another chat in which a job posts, if that chat agrees."""

    id: str
    job: str
    chat: ChatKey
    state: TargetState = TargetState.WANTED
    why: str = ""
    """Why the last post did not arrive there."""


_ROWS = RowCodec(JobTarget, "job_targets")
_NOT_AGREED = frozenset({TargetState.ASKED, TargetState.REFUSED})
Step = Callable[[JobTarget], JobTarget]
Then = Callable[[JobTarget], Sequence[Owed]]
"""Returns what is owed once a target was changed."""


class JobTargets(ValueTable[JobTarget]):
    """The other chats in which jobs post."""

    rows, key = _ROWS, "id"

    async def add(self, targets: Iterable[JobTarget]) -> None:
        """Insert targets; those that a job has already stay as they are."""
        found = [*targets]

        def change(connection: Connection) -> None:
            for target in found:
                _ROWS.add(connection, target)

        if found:
            await self._writer.submit(change)

    async def of(self, job: str) -> list[JobTarget]:
        """Return the targets of a job or draft."""
        return await self._read("job = :job ORDER BY id", {"job": job})

    async def everywhere(self) -> Mapping[str, Sequence[JobTarget]]:
        """Return the targets of all jobs and drafts, by the id of the job."""
        found = defaultdict[str, list[JobTarget]](list)
        for target in await self._read("id <> '' ORDER BY id", {}):
            found[target.job].append(target)
        return found

    async def find(self, target_id: str) -> JobTarget | None:
        return next(iter(await self._read("id = :id", {"id": target_id})), None)

    async def in_chat(self, job: str, chat: ChatKey) -> JobTarget | None:
        """Return the target of a job that is this chat."""
        return next(iter(await self._read("job = :job AND chat = :chat", {"job": job, "chat": str(chat)})), None)

    async def asked_in(self, chat: ChatKey, since: float) -> int:
        """Return how many questions about reports a chat has not answered.

        Those about jobs that are over count as long as these are not older than `since`.
        """
        query = (
            "SELECT count(*) FROM job_targets JOIN jobs ON jobs.id = job_targets.job WHERE job_targets.chat = ? "
            "AND job_targets.state = 'asked' AND (jobs.state IN ('active', 'paused') OR jobs.created > ?)"
        )

        def read(connection: Connection) -> int:
            (count,) = connection.execute(query, (str(chat), since)).fetchone()
            return int(count)

        return await self._reader.run(read)

    async def answered_in(self, people: Collection[str]) -> set[tuple[ChatKey, str]]:
        """Return the chats, without threads, in which people with these ids were answered, each with the id."""
        query = "SELECT DISTINCT chat FROM runs WHERE person = ?"

        def read(connection: Connection) -> set[tuple[ChatKey, str]]:
            rows = ((row, person) for person in people for row in connection.execute(query, (person,)).fetchall())
            return {(ChatKey.parse(chat).without_thread, person) for (chat,), person in rows}

        return await self._reader.run(read)


def changed(connection: Connection, where: str, values: dict[str, str], step: Step) -> list[JobTarget]:
    """Apply a step to the targets where the condition holds. Returns those that it changed, as they are now."""
    found = [(each, step(each)) for each in [*_ROWS.select(connection, where, values)]]
    now = [after for before, after in found if after != before]
    for target in now:
        _ROWS.save(connection, target, "id")
    return now


def take_over(connection: Connection, draft: str, job: str, *, is_same: bool) -> None:
    """Give a job the targets of the draft that changes it.

    One that the job had before stays as it is if the job says the same as before. Else one that agreed is asked again;
    one that refused, or has not answered, is not.
    """
    wanted = {each.chat: each for each in _ROWS.select(connection, "job = :job", {"job": draft})}
    for had in [*_ROWS.select(connection, "job = :job", {"job": job})]:
        if had.chat in wanted and (is_same or had.state in _NOT_AGREED):
            del wanted[had.chat]
        else:
            connection.execute("DELETE FROM job_targets WHERE id = ?", (had.id,))
    connection.execute("DELETE FROM job_targets WHERE job = ?", (draft,))
    for target in wanted.values():
        _ROWS.add(connection, replace(target, job=job))
