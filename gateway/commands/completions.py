"""Values that people are offered while they type the arguments of a command.

Each shows only what the person may see by the command itself; the table has checked that they may use it.
"""

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence

from agent_core.skills.chat_skills import SkillEntry
from agent_core.skills.skill import Origin
from agent_core.tools.clock import zone_names
from channels.capabilities import HasRoles
from channels.commands import Suggestion
from gateway.chat.run_pace import quoted
from gateway.commands.command import MOST_SUGGESTED, Suggester, Unfinished
from gateway.commands.people import BLOCKED, NONE, ROLES
from gateway.commands.sessions import ID
from gateway.permissions.approvals import Approvals
from gateway.permissions.question_text import one_line
from gateway.permissions.roles import Roles
from gateway.runs.chat_models import ChatModels
from gateway.runs.tasks.tasks import Tasks
from gateway.schedule.jobs.jobs import Jobs
from gateway.settings.run_time import changeable
from gateway.store.store import Store
from gateway.texts.say import say
from gateway.upkeep.strangers import Strangers

MOST_CHARS = 60
"""Characters of a label beside its value."""


class Completions:
    """Suggests values for the arguments of commands."""

    def __init__(
        self,
        store: Store,
        models: ChatModels,
        approvals: Approvals,
        tasks: Tasks,
        jobs: Jobs,
    ) -> None:
        self._store = store
        self._models = models
        self._approvals = approvals
        self._tasks = tasks
        self._jobs = jobs

    @property
    def by_command(self) -> Mapping[str, Suggester]:
        """The suggester of each command that has arguments with known values."""
        return {
            "help": _commands,
            "model": self._model_names,
            "retry": self._model_names,
            "tz": _zones,
            "resume": self._sessions,
            "skill": _skills,
            "skills": _skills,
            "approve": self._questions,
            "deny": self._questions,
            "rules": self._rules,
            "tasks": self._task_ids,
            "queue": _waiting,
            "cron": self._job_ids,
            "budget": self._budgets,
            "speakers": _server_roles,
            "config": _settings,
        }

    async def _model_names(self, typing: Unfinished) -> Iterable[Suggestion]:
        return (_named(each.id) for each in self._models.offered if self._models.allows(typing.role, each.id))

    async def _sessions(self, typing: Unfinished) -> Iterable[Suggestion]:
        person = typing.sender.id if typing.is_guest_in_group else None
        rows = await self._store.sessions.of(typing.chat, MOST_SUGGESTED, 0, person)
        return [_named(row.id[:ID], row.title) for row in rows]

    async def _questions(self, typing: Unfinished) -> Iterable[Suggestion]:
        found = await self._approvals.open_in(typing.chat)
        mine = (each for each in found if self._approvals.may_answer(each, typing.sender) and not each.is_of_model)
        return [_named(each.id, each.what) for each in mine]

    async def _rules(self, typing: Unfinished) -> Iterable[Suggestion]:
        found = await self._store.rules.of_chat(typing.chat)
        return [_named(each.id, each.what) for each in found if typing.is_admin or each.person == typing.sender.id]

    async def _task_ids(self, typing: Unfinished) -> Iterable[Suggestion]:
        found = await self._tasks.shown(typing.chat, typing.sender, MOST_SUGGESTED, typing.language)
        return [_named(each.task.id, each.task.prompt) for each in found if not each.task.is_over]

    async def _job_ids(self, typing: Unfinished) -> Iterable[Suggestion]:
        found = await self._jobs.shown(typing.chat)
        mine = (each for each in found if each.person == typing.sender.id or not typing.is_guest_in_group)
        return [_named(each.id, each.words) for each in mine]

    async def _budgets(self, typing: Unfinished) -> Iterable[Suggestion]:
        """Return the ids of jobs after `job`; amounts are the person's own."""
        return await self._job_ids(typing) if typing.before == "job" else ()


class PeopleCompletions:
    """Suggests people."""

    def __init__(self, roles: Roles, strangers: Strangers) -> None:
        self._roles = roles
        self._strangers = strangers

    @property
    def by_command(self) -> Mapping[str, Suggester]:
        """The suggester of each command about people."""
        return {
            "people": self._people,
            "allow": self._newcomers,
            "role": self._people,
            "block": self._people,
            "forget": self._people,
        }

    async def _people(self, typing: Unfinished) -> Iterable[Suggestion]:
        found = []
        for person in self._roles.people:
            role = BLOCKED if person.is_blocked else self._roles.of(person.accounts[0].principal) or NONE
            words = say(ROLES[role], typing.language)
            found += [_named(each.principal, f"{each.name} ({words})") for each in person.accounts]
        return found

    async def _newcomers(self, typing: Unfinished) -> Iterable[Suggestion]:
        """Return the strangers who wait, then those who are blocked or were let out."""
        waiting = [_named(each.principal, each.event.sender.name) for each in await self._strangers.waiting()]
        out = [each for person in self._roles.people for each in person.accounts if not self._roles.of(each.principal)]
        return [*waiting, *(_named(each.principal, each.name) for each in out)]


async def _waiting(typing: Unfinished) -> Iterable[Suggestion]:
    """Return the numbers of the waiting messages that the person may drop."""
    if typing.before.strip().lower() != "drop":
        return []
    found = typing.session.mail.waiting(math.inf)
    mine = (each for each in found if typing.is_admin or each.event.sender.id == typing.sender.id)
    return [_named(str(each.seq), quoted(each.event)) for each in mine]


async def _commands(typing: Unfinished) -> Iterable[Suggestion]:
    return (_named(each.name, each.about[typing.language]) for each in typing.commands)


async def _zones(_: Unfinished) -> Iterable[Suggestion]:
    names = await asyncio.to_thread(zone_names)
    return (_named(each) for each in sorted({*names.values()}) if "/" in each)


async def _settings(typing: Unfinished) -> Iterable[Suggestion]:
    """Return the names of settings, where /config answers."""
    return () if typing.in_group else (_named(each) for each in changeable())


async def _server_roles(typing: Unfinished) -> Iterable[Suggestion]:
    channel = typing.session.conversation.channel
    if typing.before != "role" or not isinstance(channel, HasRoles):
        return ()
    return [_named(each.removeprefix("@")) for each in (await channel.roles(typing.chat)).values()]


async def _skills(typing: Unfinished) -> Iterable[Suggestion]:
    entries = (await typing.session.conversation.skills()).entries()
    return (_named(entry.name) for entry in _fitting(entries, typing.before.lower()))


def _fitting(entries: Sequence[SkillEntry], verb: str) -> Iterable[SkillEntry]:
    """Return the skills with which this can be done."""
    match verb:
        case "load":
            return (each for each in entries if not each.loaded)
        case "unload" | "reload":
            return (each for each in entries if each.loaded)
        case "update" | "remove":
            return (each for each in entries if each.origin is Origin.INSTALLED)
        case "install":
            return ()
        case _:
            return entries


def _named(value: str, about: str = "") -> Suggestion:
    words = one_line(about, MOST_CHARS)
    return Suggestion(value=value, label=f"{value} {words}".strip())
