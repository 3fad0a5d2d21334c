"""The command for reminders: /remind."""

from gateway.chat.replies import Answer
from gateway.commands.planning import Page, asked, listed, refused
from gateway.commands.table import Command, Invocation, reply
from gateway.schedule.jobs.jobs import Draft, JobRefused
from gateway.schedule.jobs.preview import set_message
from gateway.store.job import Reminder
from gateway.texts.say import say
from gateway.timing.certain import read_when
from gateway.timing.rule import BadRule


async def remind(given: Invocation) -> Answer:
    """Set or propose a reminder with the text after the time; without arguments, list the reminders."""
    if not given.arguments.strip():
        return await _list(given)
    zone = await given.desk.jobs.zone_of(given.session.key)
    try:
        found = read_when(given.arguments, zone, given.desk.clock.time())
        work = Reminder(text=found.when.rest)
        if not found.is_certain:
            return await asked(given, found.when.rule, work)
        return await _set(given, Draft(given.session.key, given.sender.id, given.language, zone, found.when.rule, work))
    except (BadRule, JobRefused) as error:
        return refused(given, error)


async def _set(given: Invocation, draft: Draft) -> Answer:
    """Set the reminder without a question, because its time is unambiguous."""
    job = await given.desk.jobs.set_now(draft, given.sender, given.asked)
    return set_message(job, given.desk.clock.time())


async def _list(given: Invocation) -> Answer:
    how = say("remind_how", given.language, slash=given.slash)
    found = await listed(given, Page(only_reminders=True))
    return found.model_copy(update={"markdown": f"{found.markdown}\n\n{how}"}) if found else reply(how)


COMMANDS = (
    Command(
        "remind",
        {"en": "Set a reminder", "zh": "在指定时间提醒您"},
        remind,
        arguments="[TIME TEXT]",
    ),
)
