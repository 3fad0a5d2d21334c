"""The command for scheduled reports: /report."""

from msgspec import Struct

from channels.base import Button, OutboundMessage
from channels.buttons import fits_a_button
from gateway.chat.replies import Answer
from gateway.commands.command import Command, Invocation, reply
from gateway.commands.planning import Planning, refused
from gateway.permissions.rights import JOB, always
from gateway.permissions.roles import Role
from gateway.schedule.jobs.destinations import Wish
from gateway.schedule.jobs.jobs import JobRefused, Jobs
from gateway.schedule.jobs.report_kinds import ReportKind, ReportKinds, ReportOrder, ReportRefused
from gateway.schedule.times.grammar import When, parse_when
from gateway.store.job import Report
from gateway.store.rule import BadRule, Cron, Rule
from gateway.texts.say import say


class Offer(Struct, frozen=True):
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


_IN_A_ROW = 2
"""Buttons."""


class ReportCommands:
    """The command /report."""

    def __init__(self, planning: Planning, jobs: Jobs, kinds: ReportKinds) -> None:
        """`kinds` are those that plugins make without a model."""
        self._planning = planning
        self._jobs = jobs
        self._clock = jobs.clock
        self._kinds = kinds

    async def report(self, given: Invocation) -> Answer:
        try:
            wish = await self._planning.wish(given, given.arguments.strip())
            name, _, rest = wish.rest.partition(" ")
            if offer := OFFERS.get(name.lower()):
                return await self._offered(given, offer, rest, wish)
            if kind := self._kinds.find(name.lower()):
                return await self._made(given, kind, rest.strip(), wish)
            return await self._own(given, wish)
        except (BadRule, JobRefused) as error:
            return refused(given, error)

    async def _offered(self, given: Invocation, offer: Offer, rest: str, wish: Wish) -> Answer:
        """Propose a built-in report. Raises BadRule and JobRefused."""
        if self._jobs.skills.find(offer.skill) is None:
            return reply(say("report_no_skill", given.language, name=offer.skill))
        when = await self._when(given, offer.rule, rest.strip())
        if offer.of_what and not when.rest:
            return reply(say(offer.of_what, given.language, slash=given.slash))
        between = " " if offer.of_what else "\n"
        instructions = between.join(filter(None, (say(offer.instructions, given.language), when.rest)))
        work = Report(instructions=instructions, skill=offer.skill, as_file=wish.as_file)
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
            return self._menu(given)
        return await self._planning.asked(given, when, Report(instructions=when.rest, as_file=wish.as_file), wish.chats)

    async def _made(self, given: Invocation, kind: ReportKind, rest: str, wish: Wish) -> Answer:
        """Propose a report that needs no model, with what it would say now. Raises BadRule and JobRefused."""
        language = given.language
        when = await self._when(given, Cron(expression=kind.cron), rest)
        if kind.asks and not when.rest:
            return reply(kind.asks[language].format(slash=given.slash))
        zone = self._jobs.zone_of(given.chat, given.sender.id)
        order = ReportOrder(given.chat, given.sender.id, language, when.zone or zone, when.rest, self._clock.time())
        try:
            made = await kind.make(order)
        except ReportRefused as refused:
            return _choices(given, refused, f"/report {kind.name} {rest}", when.rest)
        words = made.subject or when.rest or kind.title[language]
        work = Report(instructions=words, made_by=kind.name, as_file=wish.as_file)
        return await self._planning.asked(given, when, work, wish.chats, made)

    async def _when(self, given: Invocation, rule: Rule, text: str) -> When:
        """Return the time that the text names, or the default one. Raises BadRule."""
        if not text:
            return When(rule, "")
        zone = self._jobs.zone_of(given.chat, given.sender.id)
        try:
            return parse_when(text, zone, self._clock.time())
        except BadRule as error:
            if error.key != "rule_not_understood":
                raise
            return When(rule, text)

    def _menu(self, given: Invocation) -> OutboundMessage:
        language = given.language
        offered = [(name, say(offer.button, language)) for name, offer in OFFERS.items()]
        offered += [(kind.name, kind.title[language]) for kind in self._kinds.all]
        buttons = [Button(label=label, action=f"/report {name}") for name, label in offered]
        more = "".join(f"- **{kind.name}** – {kind.about[language]}\n" for kind in self._kinds.all)
        rows = [tuple(buttons[start : start + _IN_A_ROW]) for start in range(0, len(buttons), _IN_A_ROW)]
        return OutboundMessage(markdown=say("report_ask", language, slash=given.slash, more=more), buttons=tuple(rows))

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "report",
                {"en": "Get a report regularly", "zh": "定时发送报告"},
                self.report,
                rights=always(JOB),
                arguments=f"[{'|'.join([*OFFERS, *(kind.name for kind in self._kinds.all)])}] [TIME] [TEXT]",
                form="",
                example={"en": "chat every day at 18:00", "zh": "chat 每天18:00"},
                offered_to=Role.MEMBER,
            ),
        )


def _choices(given: Invocation, refused: ReportRefused, asked: str, subject: str) -> OutboundMessage:
    """Return why a report cannot be made, with the subjects that would do: as buttons, or to be written."""
    if not refused.choices:
        return reply(refused.text)
    lines = [asked.replace(subject, choice) if subject else f"{asked} {choice}" for choice in refused.choices]
    if all(map(fits_a_button, lines)):
        named = zip(refused.choices, lines, strict=True)
        rows = tuple((Button(label=choice, action=line),) for choice, line in named)
        return OutboundMessage(markdown=refused.text, buttons=rows)
    listed = "\n".join(f"- `{given.slash}{line.removeprefix('/')}`" for line in lines)
    return reply(f"{refused.text} {say('report_choices', given.language)}\n\n{listed}")
