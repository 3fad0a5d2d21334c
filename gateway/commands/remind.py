"""The command for reminders: /remind."""

from msgspec.structs import replace

from agent_core.clock import Clock
from gateway.chat.replies import Answer, Quoting
from gateway.commands.command import Command, Invocation, reply
from gateway.commands.planning import Page, Planning
from gateway.permissions.rights import JOB, LOOK_AT_JOBS, OTHERWISE, Rights
from gateway.permissions.roles import Role
from gateway.schedule.jobs.job_changes import Draft
from gateway.schedule.jobs.jobs import JobRefused, Jobs
from gateway.schedule.jobs.preview import set_message
from gateway.schedule.times.grammar import read_when
from gateway.store.job import Reminder
from gateway.store.rule import BadRule
from gateway.texts.say import say


class RemindCommands:
    """The command /remind."""

    def __init__(self, planning: Planning, jobs: Jobs, clock: Clock) -> None:
        self._planning = planning
        self._jobs = jobs
        self._clock = clock

    async def remind(self, given: Invocation) -> Answer:
        """Set or propose a reminder with the text after the time; without arguments, list the reminders.

        One for other chats, which are named first, is always proposed.
        """
        if not given.arguments.strip():
            return await self._list(given)
        zone = self._jobs.zone_of(given.chat, given.sender.id)
        try:
            wish = await self._planning.leading(given, given.arguments.strip())
            found = read_when(wish.rest, zone, self._clock.time())
            work = Reminder(text=found.rest)
            if wish.chats or not found.is_certain:
                return await self._planning.asked(given, found, work, wish.chats)
            there = found.zone or zone
            draft = Draft(given.chat, given.sender.id, given.language, there, found.rule, work, given.origin)
            return await self._set(given, replace(draft, is_by_own_clock=found.is_by_own_clock))
        except (BadRule, JobRefused) as error:
            return self._planning.refused(given, error, say("remind_wish", given.language, words=given.arguments))

    async def _set(self, given: Invocation, draft: Draft) -> Answer:
        """Set the reminder without a question, because its time is unambiguous."""
        job = await self._jobs.set_now(draft, given.sender, given.asked)
        message = set_message(job, self._clock.time())
        return Quoting(await self._planning.news.added(message, job), job.origin)

    async def _list(self, given: Invocation) -> Answer:
        how = say("remind_how", given.language, slash=given.slash)
        found = await self._planning.listed(given, Page(only_reminders=True))
        return found.model_copy(update={"markdown": f"{found.markdown}\n\n{how}"}) if found else reply(how)

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "remind",
                {"en": "Set a reminder", "zh": "在指定时间提醒您"},
                self.remind,
                rights=Rights({"": LOOK_AT_JOBS, OTHERWISE: JOB}),
                arguments="[TIME TEXT]",
                form="",
                example={"en": "tomorrow at 9 call Ann", "zh": "明天9点 给安打电话"},
                main=True,
                offered_to=Role.MEMBER,
            ),
        )
