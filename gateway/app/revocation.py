"""Ends what people have open who may no longer speak: after each change of rights, and at each start.

Nothing here takes rights away: every part compares what it has open with `Access`. So a change cut short by a crash is
completed at the next start, and a second call finds nothing.
"""

import asyncio
from collections.abc import Sequence

import structlog
from msgspec import Struct
from msgspec.structs import replace

from channels.base import ChatKey
from gateway.chat.run import ChatRuns
from gateway.chat.sessions import Sessions
from gateway.chat.stops import Expelled
from gateway.commands.page import Entrance
from gateway.delivery.delivery import Delivery
from gateway.permissions.roles import Role
from gateway.settings.current import CurrentSettings
from gateway.store.person import Account
from gateway.store.store import Store
from gateway.texts.say import Language, language_of, say
from gateway.upkeep.owners import Owners
from gateway.upkeep.stranger_notices import shown_account

log = structlog.get_logger(__name__)

MOST_NAMED = 5
"""Most people named in one message."""


_THINGS = {
    "runs": "revoked_runs",
    "messages": "revoked_messages",
    "questions": "revoked_questions",
    "tasks": "revoked_tasks",
    "jobs": "revoked_jobs",
}
"""Keys of texts."""


class Ended(Struct, frozen=True):
    """Everything that was ended or paused: for each thing the person it was for, as `platform:id`."""

    runs: Sequence[str] = ()
    messages: Sequence[str] = ()
    questions: Sequence[str] = ()
    tasks: Sequence[str] = ()
    jobs: Sequence[str] = ()

    @property
    def people(self) -> list[str]:
        return sorted({*self.runs, *self.messages, *self.questions, *self.tasks, *self.jobs})


class Revocation:
    """Compares everything that is open with the rights of its people. Chats of platforms not connected are left."""

    def __init__(
        self,
        store: Store,
        delivery: Delivery,
        owners: Owners,
        sessions: Sessions,
        runs: ChatRuns,
        current: CurrentSettings,
        *,
        entrance: Entrance | None = None,
    ) -> None:
        """`entrance` is the way into the page; None if it is off."""
        self._entrance = entrance
        self._store = store
        self._delivery = delivery
        self._owners = owners
        self._sessions = sessions
        self._runs = runs
        self._current = current
        self._sweeping = asyncio.Lock()

    async def sweep(self) -> Ended:
        """End or pause all that is open for people who may no longer speak, and tell owners and admins what it was.

        Each process does so in its chats, and in those that nobody works on.
        """
        async with self._sweeping:
            expelled = self._sessions.expel()  # at once, before any of it goes on
            if self._entrance is not None:
                await self._entrance.sweep()
            ended = await self._ended(expelled)
        if ended.people:
            log.warning("rights were taken away", people=ended.people)
            self._tell(ended)
        return ended

    async def sweep_chat(self, chat: ChatKey) -> None:
        """End what another process left open in a chat for people who may no longer speak, before it goes on."""
        expelled = self._sessions.of(chat).stops.expel()
        async with self._sweeping:
            ended = await self._ended_in_sessions([expelled])
        if ended.people:
            log.warning("rights were taken away", people=ended.people)
            self._tell(ended)

    async def _ended(self, expelled: Sequence[Expelled]) -> Ended:
        ended = await self._ended_in_sessions(expelled)
        elsewhere = await self._delivery.sending.remote_chats()
        questions, tasks, jobs = await self._runs.ends.expel(
            lambda chat: self._delivery.knows(chat) and chat not in elsewhere
        )
        return replace(
            ended,
            questions=[_who(each.chat, each.person) for each in questions],
            tasks=[_who(each.chat, each.person) for each in tasks],
            jobs=[_who(each.chat, each.person) for each in jobs],
        )

    async def _ended_in_sessions(self, expelled: Sequence[Expelled]) -> Ended:
        left = [run for each in expelled for run in each.left]
        stopped = [each.stopped for each in expelled if each.stopped is not None]
        messages = [item for each in expelled for item in each.messages]
        if messages:
            await self._store.inbox.settle([item.seq for item in messages])
        for run in left:
            tag = await self._store.chats.language_of(run.chat, run.person)
            await self._runs.ends.revoke(run, language_of(tag, self._current.language))
        return Ended(
            runs=[_who(run.chat, run.person) for run in (*stopped, *left)],
            messages=[_who(item.event.chat, item.event.sender.id) for item in messages],
        )

    def _tell(self, ended: Ended) -> None:
        named = ", ".join(
            shown_account(Account(each, self._owners.name_of(each))) for each in ended.people[:MOST_NAMED]
        )

        def things(language: Language) -> str:
            found = {key: len(getattr(ended, name)) for name, key in _THINGS.items()}
            return ", ".join(say(key, language, count=count) for key, count in found.items() if count)

        people = named + (" ..." if len(ended.people) > MOST_NAMED else "")
        self._owners.tell("revoked", least=Role.ADMIN, people=people, things=things)


def _who(chat: ChatKey, person: str) -> str:
    return f"{chat.platform}:{person}"
