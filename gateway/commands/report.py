"""The command for scheduled reports: /report."""

from dataclasses import dataclass

from agent_core.clock import Clock
from channels.base import Button, OutboundMessage
from gateway.chat.replies import Answer
from gateway.commands.command import Command, Invocation, reply
from gateway.commands.planning import Planning, refused
from gateway.permissions.rights import JOB, always
from gateway.permissions.roles import Role
from gateway.schedule.jobs.destinations import Wish
from gateway.schedule.jobs.jobs import JobRefused, Jobs
from gateway.schedule.times.grammar import When, parse_when
from gateway.store.job import Report
from gateway.store.rule import BadRule, Cron, Rule
from gateway.texts.say import say


@dataclass(frozen=True)
class Offer:
    """A built-in report."""

    skill: str
    rule: Rule
    """The default schedule."""
    button: str
    """Text keys, as is `instructions`."""
    instructions: str
    of_what: str = ""
    """The text key of the question for its subject; empty if it needs none."""


OFFERS = {
    "notes": Offer("daily-report", Cron(expression="0 9 * * 1-5"), "report_notes_button", "report_notes"),
    "chat": Offer("chat-digest", Cron(expression="0 18 * * *"), "report_chat_button", "report_chat"),
    "page": Offer("page-watch", Cron(expression="0 8 * * *"), "report_page_button", "report_page", "report_which_page"),
    "usage": Offer("usage-report", Cron(expression="0 9 * * 1"), "report_usage_button", "report_usage"),
}


class ReportCommands:
    """The command /report."""

    def __init__(self, planning: Planning, jobs: Jobs, clock: Clock) -> None:
        self._planning = planning
        self._jobs = jobs
        self._clock = clock

    async def report(self, given: Invocation) -> Answer:
        try:
            wish = await self._planning.wish(given, given.arguments.strip())
            name, _, rest = wish.rest.partition(" ")
            offer = OFFERS.get(name.lower())
            return await (self._offered(given, offer, rest, wish) if offer else self._own(given, wish))
        except (BadRule, JobRefused) as error:
            return refused(given, error)

    async def _offered(self, given: Invocation, offer: Offer, rest: str, wish: Wish) -> Answer:
        """Propose a built-in report. Raises BadRule and JobRefused."""
        if self._jobs.skills.find(offer.skill) is None:
            return reply(say("report_no_skill", given.language, name=offer.skill))
        when = await self._when(given, offer, rest.strip())
        if offer.of_what and not when.rest:
            return reply(say(offer.of_what, given.language, slash=given.slash))
        between = " " if offer.of_what else "\n"
        instructions = between.join(filter(None, (say(offer.instructions, given.language), when.rest)))
        work = Report(instructions=instructions, skill=offer.skill)
        return await self._planning.asked(given, when, work, wish.chats)

    async def _own(self, given: Invocation, wish: Wish) -> Answer:
        """Propose a report of what the text says at its time; without a time, show which there are.

        Raises BadRule and JobRefused.
        """
        zone = self._jobs.zone_of(given.chat, given.sender.id)
        try:
            when = parse_when(wish.rest, zone, self._clock.time())
        except BadRule as error:
            if wish.rest and error.key != "rule_not_understood":
                raise
            return _menu(given)
        return await self._planning.asked(given, when, Report(instructions=when.rest), wish.chats)

    async def _when(self, given: Invocation, offer: Offer, text: str) -> When:
        """Return the time that the text names, or the default one. Raises BadRule."""
        if not text:
            return When(offer.rule, "")
        zone = self._jobs.zone_of(given.chat, given.sender.id)
        try:
            return parse_when(text, zone, self._clock.time())
        except BadRule as error:
            if error.key != "rule_not_understood":
                raise
            return When(offer.rule, text)

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "report",
                {"en": "Get a report regularly", "zh": "定时发送报告"},
                self.report,
                rights=always(JOB),
                arguments="[notes|chat|page|usage] [TIME] [TEXT]",
                form="",
                example={"en": "chat every day at 18:00", "zh": "chat 每天18:00"},
                offered_to=Role.MEMBER,
            ),
        )


def _menu(given: Invocation) -> OutboundMessage:
    buttons = [
        Button(label=say(offer.button, given.language), action=f"/report {name}") for name, offer in OFFERS.items()
    ]
    text = say("report_ask", given.language, slash=given.slash)
    return OutboundMessage(markdown=text, buttons=(tuple(buttons[:2]), tuple(buttons[2:])))
