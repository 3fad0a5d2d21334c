"""The command that reminds: /remind."""

from gateway.commands.planning import Page, asked, listed, refused
from gateway.commands.table import Command, Invocation, reply
from gateway.jobs.jobs import JobRefused
from gateway.replies import Answer
from gateway.store.job import Reminder
from gateway.texts import say
from gateway.timing.check import BadRule
from gateway.timing.grammar import parse_when


async def remind(given: Invocation) -> Answer:
    """What follows the time is said then, as it is; without anything, the reminders that there are."""
    if not given.arguments.strip():
        return await _list(given)
    zone = await given.desk.jobs.zone_of(given.session.key)
    try:
        when = parse_when(given.arguments, zone, given.desk.clock.time())
        return await asked(given, when.rule, Reminder(text=when.rest))
    except (BadRule, JobRefused) as error:
        return refused(given, error)


async def _list(given: Invocation) -> Answer:
    how = say("remind_how", given.language, slash=given.slash)
    found = await listed(given, Page(only_reminders=True))
    return found.model_copy(update={"markdown": f"{found.markdown}\n\n{how}"}) if found else reply(how)


COMMANDS = (
    Command(
        "remind",
        {"en": "Be reminded of something at a time", "zh": "在指定时间提醒您"},
        remind,
        arguments="[TIME TEXT]",
    ),
)
