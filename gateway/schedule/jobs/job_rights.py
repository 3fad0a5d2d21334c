"""Decides who may have jobs, how many, and how often their reports may run in a day. Linked accounts are one person."""

from collections.abc import Callable, Iterable

from msgspec import Struct

from channels.base import ChatKey, Sender
from gateway.permissions.group_members import GroupMembers
from gateway.permissions.rights import JOB
from gateway.permissions.rules import Rules
from gateway.settings.limits import QuotaSettings
from gateway.store.job import Firing, Job, JobState
from gateway.store.store import Store

DAY = 24 * 3600.0
MOST_ASKED = 5
"""Questions about reports that a chat has not answered."""


class Full(Struct, frozen=True):
    """The limit that leaves no room for another job; `say(full.key, language, most=full.most)` is its message."""

    key: str
    most: int


class JobRights:
    """Decides about the jobs of people. For owners only the places of a chat are limited."""

    def __init__(self, store: Store, rules: Rules, quotas: Callable[[], QuotaSettings]) -> None:
        """`quotas` returns those in force."""
        self.access = rules.access
        self._members = GroupMembers(rules.access)
        self._store = store
        self._rules = rules
        self._quotas = quotas

    def may_run(self, job: Job) -> bool:
        """Return True if the job's person still has the right to have jobs in its chat."""
        return self._rules.may(JOB, job.chat, Sender(id=job.person, name=""))

    async def has_left(self, job: Job) -> bool:
        """Return True if the job's person is not in its group any more, as far as the platform tells."""
        return await self._members.has_left(job.chat, Sender(id=job.person, name=""))

    async def poster_now(self, chat: ChatKey, person: str, there: ChatKey) -> Sender | None:
        """Return what `poster` does, if they are still in the other chat."""
        found = self.poster(chat, person, there)
        return None if found is None or await self._members.has_left(there, found) else found

    def poster(self, chat: ChatKey, person: str, there: ChatKey) -> Sender | None:
        """Return somebody who has jobs in `chat` as they are known in another one, if they may have jobs there."""
        found = self.access.known_in(there, chat, Sender(id=person, name=""))
        return found if found is not None and self._rules.may(JOB, there, found) else None

    async def asked_much(self, chats: Iterable[ChatKey], now: float) -> ChatKey | None:
        """Return one of these chats that is to be asked nothing more before it has answered, or None."""
        for chat in chats:
            if await self._store.job_targets.asked_in(chat, now - DAY) >= MOST_ASKED:
                return chat
        return None

    async def full(self, chat: ChatKey, person: str) -> Full | None:
        """Return why this person can have no further job in a chat, or None if there is room."""
        quotas, count = self._quotas(), await self._store.jobs.active_count(chat)
        if count >= quotas.chat_jobs:
            return Full("job_full", quotas.chat_jobs)
        if self._is_owner(chat, person):
            return None
        if await self._jobs_of(chat, person) >= quotas.person_jobs:
            return Full("job_full_of_person", quotas.person_jobs)
        others = max(0, quotas.chat_jobs - quotas.owner_jobs)
        if count >= others:
            here = [job for job in await self._store.jobs.planned(chat) if job.state is JobState.ACTIVE]
            if sum(not self._is_owner(chat, job.person) for job in here) >= others:
                return Full("job_full", others)
        return None

    async def runs_used_up(self, job: Job, firing: Firing) -> int:
        """Return the limit of runs in a day if the job's person has reached it before this firing, or 0."""
        if self._is_owner(job.chat, job.person):
            return 0
        accounts = self._accounts(job.chat, job.person)
        since = (firing.began or firing.due) - DAY
        counted = await self._store.firings.runs_of(_names(accounts), since, firing.name)
        runs = sum(count for chat, person, count in counted if self._principal(chat, person) in accounts)
        most = self._quotas().person_runs
        return most if runs >= most else 0

    async def _jobs_of(self, chat: ChatKey, person: str) -> int:
        accounts = self._accounts(chat, person)
        found = await self._store.jobs.active_of(_names(accounts))
        return sum(self._principal(each, author) in accounts for each, author in found)

    def _accounts(self, chat: ChatKey, person: str) -> set[str]:
        return set(self.access.accounts(chat, Sender(id=person, name="")))

    def _principal(self, chat: ChatKey, person: str) -> str:
        return self.access.principal(chat, Sender(id=person, name=""))

    def _is_owner(self, chat: ChatKey, person: str) -> bool:
        return self.access.is_owner(chat, Sender(id=person, name=""))


def _names(accounts: set[str]) -> set[str]:
    """Return the ids that jobs have of the people with these accounts: those of their platforms, and of visitors."""
    return accounts | {each.rpartition(":")[2] for each in accounts}
